import { parentPort } from "node:worker_threads";
import { BoundedMap } from "../core/bounded-map.ts";
import type { Json } from "../core/json.ts";
import type { SchemaFault } from "./find-heavy-part.ts";
import { type Check, SchemaCompiler, type SchemaUse, type SchemaViolation } from "./schema-compiler.ts";

/** Work on a schema, which is JSON without `$schema`. */
export type SchemaJob = { readonly text: string; readonly use: SchemaUse } & (
  | { readonly kind: "fault" | "compile" }
  | { readonly kind: "check"; readonly value: Json }
);

export interface SchemaAnswer {
  readonly fault?: SchemaFault | undefined;
  readonly violations?: readonly SchemaViolation[];
  /** Why the schema cannot be compiled. */
  readonly refused?: string;
}

const MAX_KEPT = 100;
const compiler = new SchemaCompiler();
const checks = new BoundedMap<string, Promise<Check>>(MAX_KEPT);

/** Does one job, however long it takes. `json-schemas.ts` starts this thread, and ends it. */
async function perform(job: SchemaJob): Promise<SchemaAnswer> {
  const { text, use } = job;
  if (job.kind === "fault") return { fault: await compiler.findFault(text, use) };
  const key = `${use.draft} ${use.formats} ${text}`;
  const compiling = checks.get(key) ?? compiler.compile(text, use);
  checks.set(key, compiling);
  try {
    const check = await compiling;
    return job.kind === "check" ? { violations: check(job.value) } : {};
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", (job: SchemaJob) => {
  void perform(job).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage("ready");
