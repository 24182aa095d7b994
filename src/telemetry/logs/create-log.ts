import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Log, LogLevel } from "../../ports/log.ts";

export interface LogOptions {
  readonly level: LogLevel | "silent";
  /** `pretty`: for people at a terminal. */
  readonly format: "json" | "pretty";
  mask(text: string): string;
  /** Takes one line without its end. */
  write(line: string): void;
}

/** Logs JSON objects or readable lines, each written at once, so that the last line before a crash is there. */
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
    // The whole line is masked before it is shown, so that a secret is found in any field.
    { write: (line: string) => write(show(mask(line.trimEnd()))) },
  );
  return {
    isOn: (wanted) => logger.isLevelEnabled(wanted),
    write: (wanted, message, fields = {}) => logger[wanted](fields, message),
  };
}

/** `2026-01-02T03:04:05.678Z INFO  run finished run_id=0193... status=completed`, from the line as JSON. */
function toPrettyLine(json: string): string {
  const { time, level, msg, ...fields } = parseExact(json) as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${toValue(value)}`);
  return [String(time), String(level).toUpperCase().padEnd(5), withoutControls(String(msg)), ...pairs].join(" ");
}

function toValue(value: unknown): string {
  const text = typeof value === "string" ? value : writeExact(value);
  return /^[\x21-\x7e]+$/.test(text) && !/["=]/.test(text) ? text : writeExact(text);
}

/** A text from elsewhere must not move the reader's cursor. Line breaks stay, because problems are shown with their lines. */
function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
