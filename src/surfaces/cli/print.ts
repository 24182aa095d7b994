import { isPawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { io } from "./process-io.ts";

/** Data, on stdout. */
export function print(text: string): void {
  io().stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Everything else, on stderr. */
export function tell(line: string): void {
  io().stderr.write(`${line}\n`);
}

/** What a command answers to programs. */
export function printEnvelope(data: unknown): void {
  print(writeExact({ data, error: null }));
}

/** A defect is reported and never hidden. What it says may be about anything, so it is not part of any result. */
export function tellDefect(error: unknown): void {
  // Somebody is told what to do about it; that needs no stack.
  if (isPawlError(error)) tell(`pawl: ${error.message}`);
  else tell(`pawl: a defect: ${error instanceof Error ? error.stack : String(error)}`);
}
