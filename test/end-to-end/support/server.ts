import { type PawlOptions, type RunningPawl, startPawl } from "./pawl.ts";

/** A real `pawl serve` on a free port; it ends with its test. */
export interface RunningServer extends Pick<RunningPawl, "pid" | "ended" | "said" | "kill"> {
  readonly url: string;
}

/** Resolves when it takes requests. */
export async function startServer(args: readonly string[], options: PawlOptions): Promise<RunningServer> {
  const process = startPawl(["serve", "--port", "0", ...args], options);
  const [, url] = /^Pawl listens on (\S+)\n/m.exec(await process.printed("\n")) ?? [];
  if (url === undefined) throw new Error("The server did not say where it listens.");
  return {
    url,
    pid: process.pid,
    ended: process.ended,
    said: (text) => process.said(text),
    kill: (signal) => process.kill(signal),
  };
}
