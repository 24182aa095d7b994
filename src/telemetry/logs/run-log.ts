import type { Log, LogFields } from "../../ports/log.ts";
import type { ObservedEvent, ObservedRun, RunObserver } from "../../ports/run-observer.ts";

/** Logs runs: ends as `info`, failures as `warn`, the rest as `debug`. Of an error only the code: its message may quote a model. */
export class RunLog implements RunObserver {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  committed(run: ObservedRun, events: readonly ObservedEvent[]): void {
    for (const observed of events) this.#tell(run, observed);
  }

  #tell(run: ObservedRun, { seq, event, executor }: ObservedEvent): void {
    switch (event.type) {
      case "runStarted":
        return this.#write("debug", "run started", run, {});
      case "runFinished": {
        const { status, code, at } = event;
        const level = status === "completed" || status === "cancelled" ? "info" : "warn";
        return this.#write(level, "run finished", run, {
          status,
          code,
          ms: at - run.startedAt,
          cost_usd: run.costMicro / 1_000_000,
          cost_usd_at_most: run.uncertainMicro === null ? null : (run.costMicro + run.uncertainMicro) / 1_000_000,
        });
      }
      case "stepStarted":
        return this.#write("debug", "step started", run, stepOf(event));
      case "stepSucceeded":
        return this.#write("debug", "step completed", run, { ...stepOf(event), executor, ms: msOf(event) });
      case "stepFailed": {
        const { code, retryable } = event;
        return this.#write("warn", "step failed", run, {
          ...stepOf(event),
          executor,
          code,
          retryable,
          ms: msOf(event),
        });
      }
      case "stepInterrupted":
        return this.#write("warn", event.holds === true ? "step held" : "step interrupted", run, {
          ...stepOf(event),
          cause: event.cause,
        });
      case "approvalAsked":
        return this.#write("info", "approval requested", run, { step: event.path, asked: seq });
      case "approvalAnswered":
        return this.#write("info", "approval answered", run, { step: event.path, answer: event.answer });
      case "approvalCounted":
        return this.#write("info", "approval counted", run, { step: event.path });
      case "cancelRequested":
        return this.#write("info", "cancel requested", run, {});
      default:
        return;
    }
  }

  #write(level: "debug" | "info" | "warn", message: string, run: ObservedRun, fields: LogFields): void {
    if (!this.#log.isOn(level)) return;
    const { runId, workflow, tenantId } = run;
    this.#log.write(level, message, { run_id: runId, workflow, tenant: tenantId, ...fields });
  }
}

function stepOf({ path, attempt }: { readonly path: string; readonly attempt: number }): LogFields {
  return { step: path, attempt };
}

function msOf({ at, startedAt }: { readonly at: number; readonly startedAt?: number }): number | undefined {
  return startedAt === undefined ? undefined : at - startedAt;
}
