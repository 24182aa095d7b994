import { isJsonObject } from "../../core/json.ts";
import type { Executor } from "../../ports/executor.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import { toFailed, toSchemaInvalid } from "./failure.ts";
import { describeViolations } from "./violations.ts";

/** The same executor, whose output must fit the `output_schema` in its input, where there is one. */
export function checkOutput(executor: Executor, validators: JsonSchemas): Executor {
  return {
    recordsInput: executor.recordsInput,
    ...(executor.runsElsewhere ? { runsElsewhere: true } : {}),
    ...(executor.toRecorded === undefined ? {} : { toRecorded: async (task) => executor.toRecorded?.(task) ?? null }),
    async run(task, signal) {
      const schema = isJsonObject(task.input) ? task.input["output_schema"] : undefined;
      if (!isJsonObject(schema)) return executor.run(task, signal);
      const compiled = await validators.compile(schema);
      if (!compiled.ok) return toSchemaInvalid(compiled.message);
      const outcome = await executor.run(task, signal);
      const violations = outcome.status === "succeeded" ? await compiled.validate(outcome.output) : [];
      if (violations.length === 0) return outcome;
      const message = `The output does not fit \`output_schema\`: ${describeViolations(violations, "the output")}`;
      const { costMicro } = outcome;
      return toFailed("OUTPUT_INVALID", { message, retryable: true, effect: "done", isAnswered: true, costMicro });
    },
    ...(executor.runEnded === undefined ? {} : { runEnded: (run) => executor.runEnded?.(run) ?? Promise.resolve() }),
  };
}
