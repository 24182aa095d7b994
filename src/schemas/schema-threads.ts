import { PawlError } from "../core/errors/pawl-error.ts";
import { DeadlineThreads } from "./deadline-threads.ts";
import type { SchemaAnswer, SchemaJob } from "./thread-main.ts";

/** Throws `SCHEMA_TOO_COSTLY`. A process has these threads once, as it has its event loop once. */
export const schemaThreads = new DeadlineThreads<SchemaJob, SchemaAnswer>({
  beside: import.meta.url,
  maxMs: 1_000,
  toError: (cause) =>
    new PawlError("SCHEMA_TOO_COSTLY", {
      message: "A value could not be checked against its JSON Schema in a second of work.",
      cause,
    }),
});
