import { writeSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";

/** Another screen, so that what stood here comes back; no wrapping: rows are drawn whole. */
const TAKE = "\u001b[?1049h\u001b[?7l\u001b[2J";
/** Everything that this program may have changed, whatever it was. */
const GIVE_BACK = "\u001b[?2026l\u001b[?1l\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?7h\u001b[?1049l";

const STDOUT = 1;

export interface RawTerminal {
  /** May be called twice. */
  giveBack(): void;
}

/**
 * Takes the terminal of the person: every key comes as it is. It is given back on every way out of the process that a
 * program can see: the end of the command, a signal, a defect. (Only SIGKILL leaves it as it is.)
 */
export function takeTerminal(stdin: ReadStream, stdout: WriteStream): RawTerminal {
  let isTaken = true;
  const giveBack = () => {
    if (!isTaken) return;
    isTaken = false;
    process.off("exit", giveBack);
    stdin.setRawMode(false);
    // At once: at the exit of the process nothing is written later.
    writeNow(GIVE_BACK);
  };
  process.on("exit", giveBack);
  stdin.setRawMode(true);
  stdout.write(TAKE);
  return { giveBack };
}

/** A terminal that is gone needs nothing back. */
function writeNow(text: string): void {
  try {
    writeSync(STDOUT, text);
  } catch {
    return;
  }
}
