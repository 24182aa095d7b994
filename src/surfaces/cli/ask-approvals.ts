import { createInterface, type Interface } from "node:readline/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import type { Application } from "../../operations/application/application.ts";
import { type Answer, answerApproval } from "../../operations/approvals/answer-approval.ts";
import { listApprovals, type OpenApproval } from "../../operations/approvals/describe-run-approvals.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { paintFor } from "./cli-context.ts";
import { tell } from "./print.ts";
import { io } from "./process-io.ts";
import { renderError } from "./render/render-error.ts";
import { showPath } from "./render/show-path.ts";

/** `later`: nobody wants to answer now. */
export type Asked = "answered" | "later" | "stopped";

/** Asks the person at the terminal every open approval of a run, one after another. */
export async function askApprovals(app: Application, record: RunRecord, stop: AbortSignal): Promise<Asked> {
  const terminal = createInterface({ input: io().stdin, output: io().stderr });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    for (const approval of await listApprovals(await app.records(), record)) {
      const asked = await askOne({ app, record, terminal, stop }, approval);
      if (asked !== "answered") return asked;
    }
    return "answered";
  } catch (error) {
    if (stop.aborted) return "stopped";
    throw error;
  } finally {
    terminal.close();
  }
}

interface Asking {
  readonly app: Application;
  readonly record: RunRecord;
  readonly terminal: Interface;
  readonly stop: AbortSignal;
}

async function askOne(asking: Asking, approval: OpenApproval): Promise<Asked> {
  const { app, record, terminal, stop } = asking;
  tell(`\n${showPath(approval.path)}: ${approval.message}`);
  tell(JSON.stringify(approval.shown, null, 2));
  const choices = `[a]pprove, [r]eject, [s]kip${approval.allow_edit ? ", [e]dit" : ""}, [l]ater`;
  for (;;) {
    const written = await terminal.question(`${choices}? `, { signal: stop });
    const choice = written.trim().toLowerCase()[0];
    if (choice === "l") return "later";
    const answer = await toAnswer(choice, asking, approval);
    if (answer === undefined) continue;
    try {
      await answerApproval(app, { record, path: approval.path, asked: approval.asked }, answer);
      return "answered";
    } catch (error) {
      if (!isPawlError(error)) throw error;
      tell(renderError(error, paintFor(io().stderr)));
      // Somebody else was first: that answers it too.
      if (error.code === "APPROVAL_CONFLICT" || error.code === "APPROVAL_NOT_OPEN") return "answered";
    }
  }
}

async function toAnswer(
  choice: string | undefined,
  { terminal, stop }: Asking,
  { allow_edit: allowsEdit }: OpenApproval,
): Promise<Answer | undefined> {
  if (choice === "a") return { answer: "approve", by: "terminal" };
  if (choice === "s") return { answer: "skip", by: "terminal" };
  if (choice === "r") {
    const comment = (await terminal.question("Why (may be empty)? ", { signal: stop })).trim();
    return { answer: "reject", by: "terminal", ...(comment === "" ? {} : { comment }) };
  }
  if (choice !== "e" || !allowsEdit) return undefined;
  const edited = parse(await terminal.question("The new data, as JSON on one line: ", { signal: stop }));
  if (edited === undefined) tell("That is not valid JSON.");
  return edited === undefined ? undefined : { answer: "approve", by: "terminal", edited };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
