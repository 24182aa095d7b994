import { randomBytes } from "node:crypto";
import type { StepFailed, StepSucceeded } from "../../core/history/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ObservedCall, ObservedEvent, ObservedRun, RunObserver } from "../../ports/run-observer.ts";
import type { Span, SpanAttributes } from "./to-otlp.ts";

/**
 * Makes spans of committed events: of a run when it has ended, of an attempt when it is over, of a call of a model or a tool
 * inside it. A run's and an attempt's ids follow from the run, and their begin stands in the record, so that a restart in
 * between breaks no trace. Names are those of OpenTelemetry's GenAI conventions. Spans hold no prompt, input or output.
 */
export class RunSpans implements RunObserver {
  readonly #add: (span: Span) => void;

  constructor(add: (span: Span) => void) {
    this.#add = add;
  }

  committed(run: ObservedRun, events: readonly ObservedEvent[]): void {
    for (const observed of events) {
      const { event } = observed;
      if (event.type === "runFinished") this.#addRun(run, event);
      else if (event.type === "stepSucceeded" || event.type === "stepFailed") this.#addAttempt(run, event, observed);
    }
  }

  called(run: ObservedRun, call: ObservedCall): void {
    const { traceId, attemptSpanId } = run.trace;
    const { path, attempt, kind, name, startedAt, endedAt, errorCode } = call;
    const isModel = kind === "model";
    const [provider, model = name] = isModel ? name.split(/:(.*)/s) : [];
    this.#add({
      traceId,
      // Only the process that made the call reports it, so the id may be random.
      spanId: randomBytes(8).toString("hex"),
      parentSpanId: attemptSpanId(path, attempt),
      name: isModel ? `chat ${model}` : `execute_tool ${name}`,
      kind: isModel ? "client" : "internal",
      startedAt,
      endedAt,
      attributes: {
        "gen_ai.operation.name": isModel ? "chat" : "execute_tool",
        ...(isModel
          ? {
              "gen_ai.provider.name": provider,
              "gen_ai.request.model": model,
              "gen_ai.response.model": call.answeredBy,
              "gen_ai.usage.input_tokens": call.inputTokens,
              "gen_ai.usage.output_tokens": call.outputTokens,
            }
          : { "gen_ai.tool.name": name, "gen_ai.tool.call.id": call.callId }),
        "gen_ai.conversation.id": run.runId,
        "error.type": errorCode,
      },
      error: errorCode,
    });
  }

  #addRun(run: ObservedRun, event: { readonly at: number; readonly status: string; readonly code?: string }): void {
    const { traceId, spanId, parentSpanId } = run.trace;
    const hasFailed = event.status === "failed" || event.status === "budget_exceeded";
    this.#add({
      traceId,
      spanId,
      parentSpanId,
      name: `invoke_workflow ${run.workflow}`,
      kind: parentSpanId === undefined ? "internal" : "server",
      startedAt: run.startedAt,
      endedAt: event.at,
      attributes: {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": run.workflow,
        "gen_ai.conversation.id": run.runId,
        "pawl.run.id": run.runId,
        "pawl.run.status": event.status,
        "pawl.tenant.id": run.tenantId,
        "pawl.cost_usd": run.costMicro / 1_000_000,
        "error.type": hasFailed ? event.code : undefined,
      },
      error: hasFailed ? (event.code ?? event.status) : undefined,
    });
  }

  #addAttempt(run: ObservedRun, event: StepSucceeded | StepFailed, { executor }: ObservedEvent): void {
    // Without an executor the core decided the outcome, and no work was done.
    if (executor === undefined) return;
    const { path, attempt, at, startedAt = at, costMicro, usage } = event;
    const stepId = path.replace(/^.*\//s, "").replace(/[[#].*$/s, "");
    const isAgent = executor === "agent";
    const code = event.type === "stepFailed" ? event.code : undefined;
    this.#add({
      traceId: run.trace.traceId,
      spanId: run.trace.attemptSpanId(path, attempt),
      parentSpanId: run.trace.spanId,
      name: isAgent ? `invoke_agent ${stepId}` : `step ${stepId}`,
      kind: "internal",
      startedAt,
      endedAt: at,
      attributes: {
        ...(isAgent ? { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": stepId } : {}),
        "gen_ai.conversation.id": run.runId,
        "pawl.run.id": run.runId,
        "pawl.step.path": path,
        "pawl.step.attempt": attempt,
        "pawl.step.executor": executor,
        "pawl.cost_usd": costMicro === undefined ? undefined : costMicro / 1_000_000,
        ...toUsage(usage),
        "error.type": code,
      },
      error: code,
    });
  }
}

function toUsage({ model, input_tokens: input, output_tokens: output }: JsonObject = {}): SpanAttributes {
  return {
    "gen_ai.request.model": typeof model === "string" ? model : undefined,
    "gen_ai.usage.input_tokens": typeof input === "number" ? input : undefined,
    "gen_ai.usage.output_tokens": typeof output === "number" ? output : undefined,
  };
}
