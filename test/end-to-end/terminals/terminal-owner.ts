import { homedir, tmpdir } from "node:os";
import { createTerminalSessions } from "../../../src/executors/terminal/terminal-sessions.ts";

/** Opens terminals, says which processes run in them, and waits to be killed, or ends by itself. */
const terminals = createTerminalSessions(
  {
    level: "off",
    maxCallsPerMinute: 60,
    maxSessions: 10,
    defaultShell: "bash --norc",
    isolateHistory: true,
    columns: 80,
    rows: 24,
    scrollbackRows: 100,
    sweepAfterMs: 60_000,
  },
  {
    environment: process.env,
    currentDir: tmpdir(),
    homeDir: homedir(),
    temporaryDir: tmpdir(),
    mask: (text) => text,
  },
);

const first = await terminals.call("open_terminal", {});
const second = await terminals.call("open_terminal", {});
const { session_id } = second;
await terminals.call("send_input", {
  session_id,
  input_text: "trap '' HUP; (setsid bash -c 'echo stray $$; exec sleep 2000' &)\n",
});
const { match_text } = await terminals.call("await_output", { session_id, pattern: "stray \\d+" });

const shells = [first, second].map(({ session_id: id }) => terminals.find(id)?.pid);
process.stdout.write(`${JSON.stringify([...shells, Number(match_text?.slice(6))])}\n`);
if (process.argv[2] === "waiting") setInterval(() => undefined, 60_000);
