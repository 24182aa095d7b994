import { createInterface, type Interface } from "node:readline/promises";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Json } from "../../../core/json.ts";
import { orElse } from "../../../core/or-else.ts";
import { OPERATOR } from "../../../core/trust/approvers.ts";
import { approve, listApprovals, reject, skip } from "../../../operations/approvals/approvals.ts";
import type { OpenApproval } from "../../../operations/approvals/describe-run-approvals.ts";
import type { Caller } from "../caller.ts";
import { paintFor } from "../cli-context.ts";
import { tell } from "../print.ts";
import { io } from "../process-io.ts";
import { renderError } from "../render/pages/render-error.ts";
import { showPath } from "../render/text/sanitize.ts";

/** `later`: nobody wants to answer now. */
export type Asked = "answered" | "later" | "stopped";

/** Asks the person at the terminal every open approval of a run, one after another. */
export async function askApprovals(caller: Caller, runId: string, stop: AbortSignal): Promise<Asked> {
  const terminal = createInterface({ input: io().stdin, output: io().stderr });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    for (const approval of (await caller.call(listApprovals, { run: runId })).items) {
      if (approval.approved_by.includes(OPERATOR)) return "later";
      const asked = await askOne({ caller, terminal, stop }, approval);
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
  readonly caller: Caller;
  readonly terminal: Interface;
  readonly stop: AbortSignal;
}

async function askOne(asking: Asking, approval: OpenApproval): Promise<Asked> {
  const { caller, terminal, stop } = asking;
  tell(`\n${showPath(approval.path)}: ${approval.message}`);
  if (approval.terms !== null) tell(approval.terms);
  tell(writeExact(approval.shown, 2));
  if (approval.schema !== null) tell(`The data must fit ${writeExact(approval.schema)}`);
  const choices = `[a]pprove, [r]eject, [s]kip${approval.allow_edit ? ", [e]dit" : ""}, [l]ater`;
  for (;;) {
    const written = await terminal.question(`${choices}? `, { signal: stop });
    const choice = written.trim().toLowerCase()[0];
    if (choice === "l") return "later";
    const answer = await toAnswer(choice, asking, approval);
    if (answer === undefined) continue;
    try {
      const { operation, ...given } = answer;
      const { missing } = await caller.call(operation, { ...given, id: addressOf(approval) });
      if (missing === 0) return "answered";
      tell(`Recorded: ${missing} more must approve.`);
      return "later";
    } catch (error) {
      if (!isPawlError(error)) throw error;
      tell(renderError(error, paintFor(io().stderr)));
      // Somebody else was first: that answers it too.
      if (error.code === "APPROVAL_CONFLICT" || error.code === "APPROVAL_NOT_OPEN") return "answered";
    }
  }
}

/** With its number, so that what is answered is what was seen. */
function addressOf({ run_id: runId, path, asked }: OpenApproval): string {
  return `${runId}:${path}@${asked}`;
}

interface Answer {
  readonly operation: typeof approve | typeof reject | typeof skip;
  readonly comment?: string;
  readonly edited_data?: Json;
}

async function toAnswer(
  choice: string | undefined,
  { terminal, stop }: Asking,
  { allow_edit: allowsEdit }: OpenApproval,
): Promise<Answer | undefined> {
  if (choice === "a") return { operation: approve };
  if (choice === "s") return { operation: skip };
  if (choice === "r") {
    const comment = (await terminal.question("Why (may be empty)? ", { signal: stop })).trim();
    return { operation: reject, ...(comment === "" ? {} : { comment }) };
  }
  if (choice !== "e" || !allowsEdit) return undefined;
  const edited = parse(await terminal.question("The new data, as JSON on one line: ", { signal: stop }));
  if (edited === undefined) tell("That is not valid JSON.");
  return edited === undefined ? undefined : { operation: approve, edited_data: edited };
}

function parse(text: string): Json | undefined {
  return orElse(() => parseExact(text), undefined);
}
