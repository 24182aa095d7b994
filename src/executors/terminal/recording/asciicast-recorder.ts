import { createWriteStream } from "node:fs";
import type { TerminalSession } from "../session/terminal-session.ts";

export interface RecorderOptions {
  readonly path: string;
  /** Takes secrets out of each piece of output. One that comes in two pieces is not recognised. */
  readonly mask?: (text: string) => string;
  /** Then the recording ends with a remark. Default 32 MB. */
  readonly maxBytes?: number;
}

export interface Recording {
  /** Resolves when everything is in the file. */
  stop(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Writes what a session shows to a file that terminal players understand (asciicast v2): a header, then a line for each
 * piece of output with the seconds since the beginning. The first line shows the screen as it was then.
 */
export function recordAsciicast(session: TerminalSession, options: RecorderOptions): Recording {
  const { path, mask = (text) => text, maxBytes = DEFAULT_MAX_BYTES } = options;
  const file = createWriteStream(path, { mode: 0o600 });
  const startedAt = performance.now();
  let failure: Error | undefined;
  file.on("error", (error) => {
    failure = error;
  });
  const write = (type: "o" | "r" | "m", text: string) => {
    const seconds = (performance.now() - startedAt) / 1000;
    file.write(`${JSON.stringify([Number(seconds.toFixed(6)), type, text])}\n`);
  };

  const { columns: width, rows: height } = session.screen;
  const timestamp = Math.floor(Date.now() / 1000);
  const header = {
    version: 2,
    width,
    height,
    timestamp,
    title: mask(session.facts.command),
    env: { TERM: "xterm-256color" },
  };
  file.write(`${JSON.stringify(header)}\n`);
  let length = 0;
  const { snapshot, leave } = session.join({
    data(data) {
      length += Buffer.byteLength(data);
      if (length <= maxBytes) return write("o", mask(data));
      leave();
      write("m", "The recording ends here: it is as long as it may be.");
    },
    resized: (columns, rows) => write("r", `${columns}x${rows}`),
  });
  if (snapshot !== "") write("o", mask(snapshot));

  return {
    stop() {
      leave();
      return new Promise((resolve, reject) => file.end(() => (failure === undefined ? resolve() : reject(failure))));
    },
  };
}
