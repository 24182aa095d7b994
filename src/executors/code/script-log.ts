import { StringDecoder } from "node:string_decoder";
import type { Json } from "../../core/json.ts";

/** The output of a script as events, one for each line. Bounded: beyond that, one event says that there was more. */
export interface ScriptLog {
  write(stream: "stdout" | "stderr", chunk: Buffer): void;
  warn(text: string): void;
  /** Lines that have no end yet. */
  close(): void;
}

const MAX_LINE_CHARS = 4_096;
const MAX_LINES = 2_000;

export function createScriptLog(emit: (event: Json) => void): ScriptLog {
  let lines = 0;
  const say = (type: "stdout" | "stderr", text: string) => {
    lines += 1;
    if (lines <= MAX_LINES) emit({ type, text });
    else if (lines === MAX_LINES + 1) emit({ type: "warning", text: `Only the first ${MAX_LINES} lines are kept.` });
  };
  const streams = {
    stdout: splitLines((line) => say("stdout", line)),
    stderr: splitLines((line) => say("stderr", line)),
  };
  return {
    write: (stream, chunk) => streams[stream].write(chunk),
    warn: (text) => emit({ type: "warning", text }),
    close() {
      streams.stdout.close();
      streams.stderr.close();
    },
  };
}

function splitLines(onLine: (line: string) => void): { write(chunk: Buffer): void; close(): void } {
  const decoder = new StringDecoder("utf8");
  let line = "";
  // A line may be as long as the whole output: of what is too long only the beginning is held.
  const hold = (text: string) => {
    if (line.length <= MAX_LINE_CHARS) line += text.slice(0, MAX_LINE_CHARS + 1);
  };
  const finish = () => {
    const text = line.replace(/\r$/, "");
    onLine(text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text);
    line = "";
  };
  return {
    write(chunk) {
      const [first = "", ...rest] = decoder.write(chunk).split("\n");
      hold(first);
      for (const part of rest) {
        finish();
        hold(part);
      }
    },
    close() {
      hold(decoder.end());
      if (line !== "") finish();
    },
  };
}
