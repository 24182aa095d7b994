import { expect, onTestFinished, test } from "vitest";
import { openModel } from "../screen/open-model.ts";
import { awaitMatch } from "../tools/await-output.ts";
import { TerminalSession } from "./terminal-session.ts";

/** A session whose program prints nothing of its own. */
async function openSilentSession(): Promise<TerminalSession> {
  const facts = { id: "session_1", command: "bash", webUrl: null, owner: undefined, createdAt: new Date(0) };
  const session = new TerminalSession(facts, await openModel({ columns: 80, rows: 24, scrollbackRows: 100 }));
  onTestFinished(() => session.destroy());
  return session;
}

const NEVER = { find: () => null, timeoutMs: 60_000 };

test("a wait that is told to stop before its first look stops, and leaves nothing that waits", async () => {
  const session = await openSilentSession();
  const controller = new AbortController();

  const waiting = awaitMatch(session, { ...NEVER, signal: controller.signal });
  controller.abort(new Error("No longer wanted."));

  await expect(waiting).rejects.toThrow("No longer wanted.");
  expect(session.state).toBe("initializing");
});

test("so does one that is told to stop later, and one that was told before it began", async () => {
  const session = await openSilentSession();
  const controller = new AbortController();

  const waiting = awaitMatch(session, { ...NEVER, signal: controller.signal });
  await expect.poll(() => session.state).toBe("waiting");
  controller.abort(new Error("No longer wanted."));

  await expect(waiting).rejects.toThrow("No longer wanted.");
  await expect(awaitMatch(session, { ...NEVER, signal: controller.signal })).rejects.toThrow("No longer wanted.");
  expect(session.state).toBe("initializing");
});
