import { createWriteStream } from "node:fs";
import { writeExact } from "../../../core/exact-json.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { type Secrets, StreamMask } from "./stream-mask.ts";

export interface RecorderOptions {
  readonly path: string;
  readonly secrets: Secrets;
  /** Then the recording ends with a remark. */
  readonly maxBytes: number;
  /** The program has ended: nothing more will come. */
  onEnded?(): void;
}

export interface Recording {
  /** Resolves when everything is in the file, with why it could not be where that is so. */
  stop(): Promise<Error | undefined>;
}

/**
 * Writes what a session shows to a file that terminal players understand (asciicast v2): a header, then a line for each
 * piece of output with the seconds since the beginning. The first line shows the screen as it was then. What has come is
 * handed to the system at once, so that it stays when this process is killed. A file that cannot be written ends the
 * recording, never the session.
 */
export function recordAsciicast(session: TerminalSession, options: RecorderOptions): Recording {
  const { path, secrets, maxBytes, onEnded } = options;
  const file = createWriteStream(path, { mode: 0o600 });
  const mask = new StreamMask(secrets);
  const startedAt = performance.now();
  let failure: Error | undefined;
  let bytes = 0;
  let gathered = "";
  let isFull = false;

  file.once("error", (error) => {
    failure = error;
    leave();
  });
  const { columns: width, rows: height } = session.screen;
  const began = Date.now();
  const timestamp = Math.floor(began / 1000);
  const title = secrets.mask(session.facts.command);
  // Players know whole seconds. A step of the run may be over in less: who shows both wants more.
  const started_at = toIsoTime(began);
  append(writeExact({ version: 2, width, height, timestamp, started_at, title, env: { TERM: "xterm-256color" } }));
  const { snapshot, leave } = session.join({
    data: (data) => show(mask.push(data)),
    resized: (columns, rows) => add("r", `${columns}x${rows}`),
    ended: () => onEnded?.(),
  });
  if (session.state !== "initializing") show(mask.push(snapshot));

  return {
    async stop() {
      leave();
      show(mask.end());
      flush();
      await new Promise<void>((resolve) => {
        if (file.closed) return resolve();
        file.once("close", resolve);
        file.end();
      });
      return failure;
    },
  };

  function show(text: string): void {
    if (text !== "") add("o", text);
  }

  function add(type: "o" | "r" | "m", text: string): void {
    if (isFull) return;
    const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(6));
    const line = writeExact([seconds, type, text]);
    isFull = bytes + Buffer.byteLength(line) >= maxBytes;
    append(isFull ? writeExact([seconds, "m", `The recording ends here: it may be ${maxBytes} bytes long.`]) : line);
  }

  function append(line: string): void {
    // Events of one turn of the loop are written together.
    if (gathered === "") setImmediate(flush);
    gathered += `${line}\n`;
    bytes += Buffer.byteLength(line) + 1;
  }

  function flush(): void {
    if (gathered !== "" && failure === undefined && !file.writableEnded) file.write(gathered);
    gathered = "";
  }
}
