import type { PtySpec } from "../session/pty.ts";
import { endProcesses } from "./end-processes.ts";
import { HostedPty } from "./hosted-pty.ts";
import { createPrograms } from "./program.ts";
import type { FromPtyHost, ToPtyHost } from "./pty-host.ts";

/** Holds the terminals in a process of its own: other children would inherit their file descriptors, and clean-up outlives the main process. */
const terminals = new Map<number, HostedPty>();
const toProgram = createPrograms();

process.on("message", (message: ToPtyHost) => receive(message));
process.on("disconnect", async () => {
  await endProcesses([...terminals.values()]);
  process.exit();
});

function receive(message: ToPtyHost): void {
  const terminal = terminals.get(message.id);
  switch (message.type) {
    case "open":
      return open(message.id, message);
    case "write":
      return terminal?.write(message.data);
    case "resize":
      return terminal?.resize(message.columns, message.rows);
    case "taken":
      return terminal?.taken(message.length);
    case "end":
      void end(message.id, terminal);
  }
}

function open(id: number, spec: PtySpec): void {
  try {
    const terminal = new HostedPty(id, { spec, program: toProgram(spec.command), send });
    terminals.set(id, terminal);
    send({ type: "opened", id, pid: terminal.origin.pid });
  } catch (error) {
    send({ type: "notOpened", id, reason: error instanceof Error ? error.message : String(error) });
  }
}

async function end(id: number, terminal: HostedPty | undefined): Promise<void> {
  if (terminal !== undefined) await endProcesses([terminal]);
  terminals.delete(id);
  send({ type: "ended", id });
}

function send(message: FromPtyHost): void {
  if (process.connected) process.send?.(message);
}
