import type { Log, LogLevel } from "../../ports/log.ts";
import { toPrettyLine } from "./to-pretty-line.ts";

export interface LogOptions {
  readonly level: LogLevel | "silent";
  /** `pretty`: for people at a terminal. */
  readonly format: "json" | "pretty";
  /** Takes secrets out of a text. */
  mask(text: string): string;
  /** Takes one line without its end. */
  write(line: string): void;
}

/** One JSON object a line, or one readable line; written at once, so that the last line before a crash is there. */
export async function createLog({ level, format, mask, write }: LogOptions): Promise<Log> {
  const { pino, stdTimeFunctions } = await import("pino");
  const show = format === "json" ? (line: string) => line : toPrettyLine;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // As a whole and before it is shown: a secret is found wherever it stands.
    { write: (line: string) => write(show(mask(line.trimEnd()))) },
  );
  return {
    isOn: (wanted) => logger.isLevelEnabled(wanted),
    write: (wanted, message, fields = {}) => logger[wanted](fields, message),
  };
}
