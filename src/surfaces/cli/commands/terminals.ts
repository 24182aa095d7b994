import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application/application.ts";
import { findTerminal, findTerminals } from "../../../operations/terminals/find-terminals.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

export interface AttachOptions extends CommonOptions {
  readonly view?: true;
}

export interface KillOptions extends CommonOptions {
  readonly all?: true;
}

/** `pawl terminals ls`. */
export async function listTerminals(app: OpenApplication, options: CommonOptions): Promise<number> {
  const items = (await (await findTerminals(app))?.list()) ?? [];
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else {
    const { renderTerminals } = await import("../render/render-terminals.ts");
    print(renderTerminals(items, pageOptions()));
  }
  return 0;
}

/** `pawl terminals attach`. */
export async function attachTerminal(app: OpenApplication, id: string, options: AttachOptions): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new PawlError("USAGE", {
      message: "`pawl terminals attach` needs a terminal to show the other one in.",
      remedy: "Run it at a terminal; `pawl terminals ls --json` lists the sessions for programs.",
    });
  }
  const { terminals, session } = await findTerminal(app, id);
  const { attach } = await import("../attach/attach.ts");
  const outcome = await attach({ terminals, session, isViewOnly: options.view === true, stdin, stdout });
  tell(`pawl: ${outcome.text}`);
  return outcome.exitCode;
}

/** `pawl terminals kill`. */
export async function killTerminals(
  app: OpenApplication,
  id: string | undefined,
  options: KillOptions,
): Promise<number> {
  if ((id === undefined) === (options.all !== true)) {
    throw new PawlError("USAGE", { message: "Name one terminal, or say --all." });
  }
  const killed = id === undefined ? await killAll(app) : [await killOne(app, id)];
  if (formatOf(options) !== "text") printEnvelope({ killed });
  else if (killed.length === 0) tell("No terminal is open.");
  else tell(`Ended ${killed.join(", ")}.`);
  return 0;
}

async function killOne(app: OpenApplication, id: string): Promise<string> {
  const { terminals, session } = await findTerminal(app, id);
  await terminals.kill(session.session_id);
  return session.session_id;
}

async function killAll(app: OpenApplication): Promise<readonly string[]> {
  const terminals = await findTerminals(app);
  const ids = ((await terminals?.list()) ?? []).map(({ session_id }) => session_id);
  const outcomes = await Promise.allSettled(ids.map((id) => terminals?.kill(id)));
  // One that has ended by itself meanwhile is ended as well.
  const failure = outcomes.find((outcome) => outcome.status === "rejected" && !isGone(outcome.reason));
  if (failure?.status === "rejected") throw failure.reason;
  return ids;
}

function isGone(error: unknown): boolean {
  return error instanceof PawlError && error.code === "TERMINAL_NOT_FOUND";
}
