import { writeExact } from "../core/exact-json.ts";
import { isJsonObject } from "../core/json.ts";
import type { Executor, Failed } from "../ports/executor.ts";

/** Fails with the code, the message and the details that its input says. */
export const failExecutor: Executor<Failed> = {
  recordsInput: false,
  run({ input, stepId }) {
    const { code, message = null, details } = isJsonObject(input) ? input : {};
    const text = typeof message === "string" ? message : writeExact(message);
    return Promise.resolve({
      status: "failed",
      code: typeof code === "string" ? code : "STEP_FAILED",
      message: message === null || text === "" ? `"${stepId}" ends the flow as failed.` : text,
      ...(details === undefined || details === null ? {} : { details }),
      retryable: false,
      effect: "none",
      costMicro: 0,
    });
  },
};
