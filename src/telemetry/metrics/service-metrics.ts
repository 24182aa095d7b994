import type { Counter, Histogram, Registry } from "prom-client";
import type { StepFailed, StepSucceeded } from "../../core/history/events.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { ObservedEvent, ObservedRun, WorkCall } from "../../ports/run-observer.ts";
import { BoundedNames } from "./bounded-names.ts";

type Prometheus = typeof import("prom-client");

export interface MetricsOptions {
  /** Whether whose run it is becomes a label. */
  readonly tenantLabel: boolean;
  /** What is asked for only when somebody looks, by the name of its gauge. */
  readonly gauges: readonly MetricsGauge[];
}

export interface MetricsGauge {
  readonly name: string;
  readonly help: string;
  /** Absent: it is one number. */
  readonly label?: string;
  /** By the value of the label; the one number under the empty name. */
  read(): Promise<ReadonlyMap<string, number>>;
}

const RUN_SECONDS = [0.01, 0.1, 1, 5, 30, 120, 600, 3_600, 86_400];
const STEP_SECONDS = [0.005, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600];
const HTTP_SECONDS = [0.002, 0.01, 0.05, 0.25, 1, 5, 30];
const MAX_MODELS = 100;
const MAX_TENANTS = 1_000;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The library is loaded by who serves, and by nobody else. */
export async function createServiceMetrics(options: MetricsOptions): Promise<Metrics> {
  return new ServiceMetrics(await import("prom-client"), options);
}

/**
 * Counts what is committed, for Prometheus. No label takes values that anybody could send more of: no ids, no names of
 * workflows, no paths; models and tenants are bounded, and what is beyond is `other`. Counters begin with the process.
 */
class ServiceMetrics implements Metrics {
  readonly #prometheus: Prometheus;
  readonly #registry: Registry;
  readonly #tenantLabel: boolean;
  readonly #models = new BoundedNames(MAX_MODELS);
  readonly #tenants = new BoundedNames(MAX_TENANTS);
  readonly #runsStarted: Counter;
  readonly #runsFinished: Counter;
  readonly #runSeconds: Histogram;
  readonly #attempts: Counter;
  readonly #stepSeconds: Histogram;
  readonly #cost: Counter;
  readonly #unpriced: Counter;
  readonly #tokens: Counter;
  readonly #modelCalls: Counter;
  readonly #toolCalls: Counter;
  readonly #callSeconds: Histogram;
  readonly #approvals: Counter;
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;

  constructor(prometheus: Prometheus, { tenantLabel, gauges }: MetricsOptions) {
    this.#prometheus = prometheus;
    this.#registry = new prometheus.Registry();
    this.#tenantLabel = tenantLabel;
    // Memory, processor, the lag of the event loop.
    prometheus.collectDefaultMetrics({ register: this.#registry });
    const owner = tenantLabel ? ["tenant"] : [];
    this.#runsStarted = this.#counter("pawl_runs_started_total", "Runs that have begun.", owner);
    this.#runsFinished = this.#counter("pawl_runs_finished_total", "Runs that have ended.", ["status", ...owner]);
    this.#runSeconds = this.#seconds("pawl_run_duration_seconds", "With waits.", ["status"], RUN_SECONDS);
    this.#attempts = this.#counter("pawl_step_attempts_total", "Attempts of tasks, by who did the work.", [
      "executor",
      "outcome",
    ]);
    this.#stepSeconds = this.#seconds("pawl_step_duration_seconds", "Of attempts.", ["executor"], STEP_SECONDS);
    this.#cost = this.#counter("pawl_cost_usd_total", "As far as prices are known.", ["executor", ...owner]);
    this.#unpriced = this.#counter("pawl_unpriced_attempts_total", "They used what has no known price.", ["executor"]);
    this.#tokens = this.#counter("pawl_tokens_total", "Of attempts that are over.", ["direction", "model"]);
    this.#modelCalls = this.#counter("pawl_model_calls_total", "Calls of models from here.", ["model", "outcome"]);
    this.#toolCalls = this.#counter("pawl_tool_calls_total", "Calls of tools by agents in here.", ["outcome"]);
    this.#callSeconds = this.#seconds("pawl_call_duration_seconds", "Of models and tools.", ["kind"], STEP_SECONDS);
    this.#approvals = this.#counter("pawl_approvals_total", "Questions to people, and their answers.", ["event"]);
    this.#requests = this.#counter("pawl_http_requests_total", "By pattern.", ["method", "route", "status"]);
    this.#requestSeconds = this.#seconds(
      "pawl_http_request_duration_seconds",
      "Until the answer begins.",
      ["method", "route"],
      HTTP_SECONDS,
    );
    for (const gauge of gauges) this.#gauge(gauge);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  countRequest({ method: sent, route, status, durationMs }: Parameters<Metrics["countRequest"]>[0]): void {
    const method = METHODS.has(sent) ? sent : "other";
    this.#requests.inc({ method, route, status: String(status) });
    this.#requestSeconds.observe({ method, route }, durationMs / 1_000);
  }

  committed(run: ObservedRun, events: readonly ObservedEvent[]): void {
    for (const { event, executor = "none" } of events) {
      switch (event.type) {
        case "runStarted":
          this.#runsStarted.inc(this.#ownerOf(run));
          break;
        case "runFinished":
          this.#runsFinished.inc({ status: event.status, ...this.#ownerOf(run) });
          this.#runSeconds.observe({ status: event.status }, Math.max(0, event.at - run.startedAt) / 1_000);
          break;
        case "stepSucceeded":
          if (executor === "none") break;
          this.#countAttempt(run, event, { executor, outcome: event.reused === undefined ? "succeeded" : "reused" });
          break;
        case "stepFailed":
          this.#countAttempt(run, event, { executor, outcome: "failed" });
          break;
        case "stepInterrupted":
          this.#attempts.inc({ executor, outcome: "interrupted" });
          break;
        case "approvalAsked":
          this.#approvals.inc({ event: "requested" });
          break;
        case "approvalAnswered":
          this.#approvals.inc({ event: event.answer });
          break;
        default:
          break;
      }
    }
  }

  called(_: ObservedRun, call: WorkCall): void {
    const outcome = call.errorCode === undefined ? "succeeded" : "failed";
    this.#callSeconds.observe({ kind: call.kind }, Math.max(0, call.endedAt - call.startedAt) / 1_000);
    if (call.kind === "model") this.#modelCalls.inc({ model: this.#models.bound(call.name), outcome });
    else this.#toolCalls.inc({ outcome });
  }

  #countAttempt(
    run: ObservedRun,
    event: StepSucceeded | StepFailed,
    labels: { readonly executor: string; readonly outcome: string },
  ): void {
    const { executor } = labels;
    const { at, startedAt, costMicro = 0, unpriced, usage } = event;
    this.#attempts.inc(labels);
    if (startedAt !== undefined) this.#stepSeconds.observe({ executor }, Math.max(0, at - startedAt) / 1_000);
    if (costMicro > 0) this.#cost.inc({ executor, ...this.#ownerOf(run) }, costMicro / 1_000_000);
    if (unpriced === true) this.#unpriced.inc({ executor });
    if (usage !== undefined) this.#countTokens(usage);
  }

  #countTokens(usage: JsonObject): void {
    const model = typeof usage["model"] === "string" ? this.#models.bound(usage["model"]) : "unknown";
    for (const direction of ["input", "output"] as const) {
      const tokens = tokensIn(usage, `${direction}_tokens`);
      if (tokens > 0) this.#tokens.inc({ direction, model }, tokens);
    }
  }

  #ownerOf({ tenantId = "" }: ObservedRun): { readonly tenant?: string } {
    return this.#tenantLabel ? { tenant: this.#tenants.bound(tenantId) } : {};
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new this.#prometheus.Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #seconds(name: string, help: string, labelNames: string[], buckets: number[]): Histogram {
    return new this.#prometheus.Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }

  #gauge({ name, help, label, read }: MetricsGauge): void {
    const labelNames = label === undefined ? [] : [label];
    const registers = [this.#registry];
    new this.#prometheus.Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        for (const [value, count] of await read()) this.set(label === undefined ? {} : { [label]: value }, count);
      },
    });
  }
}

/** Agents of others put them one level deeper. */
function tokensIn(usage: JsonObject, name: string): number {
  const inner = isJsonObject(usage["usage"]) ? usage["usage"][name] : undefined;
  const value = usage[name] ?? inner;
  return typeof value === "number" && value > 0 ? value : 0;
}
