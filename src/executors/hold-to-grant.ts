import type { ExecutorKind } from "../core/graph/graph.ts";
import type { JsonObject } from "../core/json.ts";
import { findTaskLack, remedyFor } from "../core/trust/check-grant.ts";
import { EVERYTHING, fromStored, grantOf } from "../core/trust/grant.ts";
import type { Executor } from "../ports/executor.ts";
import { toRefused } from "./output/failure.ts";

/** Wraps an executor: a task whose definition lacks the grant is refused. The compiler checks too, but some values are known only here. */
export function holdToGrant(kind: ExecutorKind, executor: Executor, options: JsonObject): Executor {
  const { recordsInput, runsElsewhere, reservesCalls } = executor;
  const caller = fromStored(options["caller_grant"]) ?? EVERYTHING;
  return {
    recordsInput,
    ...(runsElsewhere === true ? { runsElsewhere } : {}),
    ...(reservesCalls === true ? { reservesCalls } : {}),
    ...(executor.toRecorded === undefined ? {} : { toRecorded: async (task) => executor.toRecorded?.(task) ?? null }),
    async run(task, signal) {
      const grants = { grant: grantOf(task.settings), caller: task.tenantId === undefined ? EVERYTHING : caller };
      const lack = findTaskLack({ kind, input: task.input }, grants);
      if (lack === undefined) return executor.run(task, signal);
      const { message, capability, name } = lack;
      return toRefused("NOT_GRANTED", `${message} ${remedyFor(capability, name)}`);
    },
    ...(executor.findCost === undefined ? {} : { findCost: async (call, until) => executor.findCost?.(call, until) }),
    ...(executor.runEnded === undefined ? {} : { runEnded: async (run) => executor.runEnded?.(run) }),
  };
}
