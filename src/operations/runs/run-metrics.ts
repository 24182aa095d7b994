import type { Event } from "../../core/history/events.ts";
import type { Json } from "../../core/json.ts";

/** The metrics of a run, in the words of the sandbox protocol. */
export interface RunMetrics {
  readonly run_id: string;
  readonly execution_time_ms: number;
  /** Tools and models, in the order of their first call. */
  readonly mcp_calls: readonly ToolMetrics[];
}

interface ToolMetrics {
  readonly tool: string;
  readonly count: number;
  readonly total_duration_ms: number;
  readonly token_usage?: { readonly prompt: number; readonly completion: number };
}

const MODEL_TOOL = "core.llm.generate";

/** Adds up what the outcomes of a run's attempts tell about tools and models. */
export class MetricsSum {
  readonly #tools = new Map<string, ToolMetrics>();
  readonly #startedAt = new Map<string, number>();

  add(event: Event): void {
    if (event.type === "stepStarted") this.#startedAt.set(event.path, event.at);
    if ((event.type !== "stepSucceeded" && event.type !== "stepFailed") || event.usage === undefined) return;
    const {
      tool,
      model,
      calls,
      duration_ms: measuredMs,
      input_tokens: prompt,
      output_tokens: completion,
    } = event.usage;
    const name = typeof tool === "string" ? tool : typeof model === "string" ? MODEL_TOOL : undefined;
    if (name === undefined || ("reused" in event && event.reused !== undefined)) return;
    const startedAt = event.startedAt ?? this.#startedAt.get(event.path) ?? event.at;
    const known = this.#tools.get(name);
    const hasTokens = typeof prompt === "number" || typeof completion === "number";
    const tokens = {
      prompt: toCount(prompt) + (known?.token_usage?.prompt ?? 0),
      completion: toCount(completion) + (known?.token_usage?.completion ?? 0),
    };
    this.#tools.set(name, {
      tool: name,
      count: (known?.count ?? 0) + (typeof calls === "number" ? calls : 1),
      total_duration_ms:
        (known?.total_duration_ms ?? 0) + (typeof measuredMs === "number" ? measuredMs : event.at - startedAt),
      ...(hasTokens || known?.token_usage !== undefined ? { token_usage: tokens } : {}),
    });
  }

  toMetrics(runId: string, executionTimeMs: number): RunMetrics {
    return { run_id: runId, execution_time_ms: executionTimeMs, mcp_calls: [...this.#tools.values()] };
  }
}

function toCount(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
