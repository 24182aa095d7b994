import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

const CALLS = "fsync,fdatasync,sync_file_range,msync,sync";

/** How often these processes, and those that they start meanwhile, have asked the disk to keep what they wrote. Undefined: `strace` cannot look. */
export async function countSyncs(pids: readonly number[], work: () => Promise<unknown>): Promise<number | undefined> {
  const attached = pids.flatMap((pid) => ["-p", String(pid)]);
  const tracer = spawn("strace", ["-f", "-c", "-e", `trace=${CALLS}`, ...attached], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  tracer.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => {
    tracer.once("error", () => resolve());
    tracer.once("exit", () => resolve());
  });
  while (!said.includes("attached") && tracer.exitCode === null && tracer.pid !== undefined) await setTimeout(50);
  await setTimeout(200);
  await work();
  tracer.kill("SIGINT");
  await ended;
  if (!said.includes("attached")) return undefined;
  // `% time  seconds  usecs/call  calls  errors  syscall`
  const rows = said.matchAll(
    /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(?:fsync|fdatasync|sync_file_range|msync|sync)$/gm,
  );
  return [...rows].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
