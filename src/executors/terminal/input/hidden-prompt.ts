import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readStat } from "../../sandbox/kernel/processes.ts";

/** Programs that switch all of their terminal's work off are told apart by what they ask for: line editors do so too. */
const ASKS_FOR_SECRET =
  /(?:passw|passphrase|passcode|\bpin\b|secret|token|credential|verification code|one-time|\botp\b|api.?key)[^\n]*[:?] *$/i;

const LOOK_TIMEOUT_MS = 2_000;

/**
 * Whether what is typed next is kept from sight: the cursor stands behind a question for a secret, or the terminal takes lines and does
 * not show them. `pid`: the program that the terminal was opened with.
 */
export async function isHiddenPrompt(pid: number, cursorLine: string): Promise<boolean> {
  if (ASKS_FOR_SECRET.test(cursorLine)) return true;
  const flags = await readFlags(pid);
  return flags.has("-echo") && flags.has("icanon");
}

/** Whether the kernel gathers what is typed, and hands it on when a line is whole. */
export async function gathersLines(pid: number): Promise<boolean> {
  return (await readFlags(pid)).has("icanon");
}

async function readFlags(pid: number): Promise<ReadonlySet<string>> {
  try {
    const look = promisify(execFile);
    const file = process.platform === "linux" ? "-F" : "-f";
    const { stdout } = await look("stty", [file, await findTerminal(pid), "-a"], { timeout: LOOK_TIMEOUT_MS });
    return new Set(stdout.split(/[\s;]+/));
  } catch {
    // The program has ended, or the system has no `stty`.
    return new Set();
  }
}

async function findTerminal(pid: number): Promise<string> {
  if (process.platform !== "linux") {
    const { stdout } = await promisify(execFile)("ps", ["-o", "tty=", "-p", String(pid)], { timeout: LOOK_TIMEOUT_MS });
    return `/dev/${stdout.trim()}`;
  }
  // State, parent, group, session, and the device of the terminal.
  const device = Number(readStat(pid).fields[4]);
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  return `/dev/pts/${minor + (((device >>> 8) & 0xfff) - 136) * 256}`;
}
