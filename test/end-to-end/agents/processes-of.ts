import { readdirSync, readFileSync } from "node:fs";

/** Command lines of processes that name a folder: programs that were started there and still live. */
export function processesOf(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = commandOf(pid);
      return command.includes(folder) ? [`${pid} ${command}`] : [];
    });
}

/** Empty: it has ended meanwhile. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
