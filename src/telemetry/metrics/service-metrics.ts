import type { StepFailed, StepSucceeded } from "../../core/history/events.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { ObservedRun } from "../../ports/run-observer.ts";

export interface MetricsOptions {
  readonly tenantLabel: boolean;
  /** Numbers that are read only when they are asked for. */
  readonly gauges: readonly MetricsGauge[];
}

export interface MetricsGauge {
  readonly name: string;
  readonly help: string;
  /** It only grows. */
  readonly isCounter?: true;
  /** Absent if it is one number. */
  readonly label?: string;
  /** By the value of the label; a single number under the empty name. */
  read(): Promise<ReadonlyMap<string, number>>;
}

const RUN_SECONDS = [0.01, 0.1, 1, 5, 30, 120, 600, 3_600, 86_400];
const STEP_SECONDS = [0.005, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600];
const HTTP_SECONDS = [0.002, 0.01, 0.05, 0.25, 1, 5, 30];
const MAX_MODELS = 100;
const MAX_TENANTS = 1_000;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts commits for Prometheus since the process began. Labels are bounded: no ids, workflow names or paths; further models and tenants are `other`. */
export async function createServiceMetrics({ tenantLabel, gauges }: MetricsOptions): Promise<Metrics> {
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) => {
    return new prometheus.Counter({ name: `pawl_${name}_total`, help, labelNames, registers });
  };
  const seconds = (name: string, help: string, labelNames: string[], buckets: number[]) => {
    return new prometheus.Histogram({ name: `pawl_${name}_duration_seconds`, help, labelNames, buckets, registers });
  };

  // Memory, processor, the lag of the event loop.
  prometheus.collectDefaultMetrics({ register: registry });
  const owner = tenantLabel ? ["tenant"] : [];
  const runsStarted = counter("runs_started", "Runs that have begun.", owner);
  const runsFinished = counter("runs_finished", "Runs that have ended.", ["status", ...owner]);
  const runSeconds = seconds("run", "With waits.", ["status"], RUN_SECONDS);
  const attempts = counter("step_attempts", "Attempts of tasks, by who did the work.", ["executor", "outcome"]);
  const stepSeconds = seconds("step", "Of attempts.", ["executor"], STEP_SECONDS);
  const cost = counter("cost_usd", "As far as prices are known.", ["executor", ...owner]);
  const uncertainCost = counter("uncertain_cost_usd", "At most, of calls of finished runs that were cut off.", owner);
  const unpricedAttempts = counter("unpriced_attempts", "They used what has no known price.", ["executor"]);
  const tokens = counter("tokens", "Of attempts that are over.", ["direction", "model"]);
  const modelCalls = counter("model_calls", "Calls of models from here.", ["model", "outcome"]);
  const toolCalls = counter("tool_calls", "Calls of tools by agents in here.", ["outcome"]);
  const callSeconds = seconds("call", "Of models and tools.", ["kind"], STEP_SECONDS);
  const approvals = counter("approvals", "Questions to people, and their answers.", ["event"]);
  const requests = counter("http_requests", "By pattern.", ["method", "route", "status"]);
  const requestSeconds = seconds("http_request", "Until the answer begins.", ["method", "route"], HTTP_SECONDS);
  for (const { name, help, label, isCounter, read } of gauges) {
    const Metric = isCounter === true ? prometheus.Counter : prometheus.Gauge;
    const metric = new Metric({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers,
      async collect() {
        metric.reset();
        for (const [value, count] of await read()) metric.inc(label === undefined ? {} : { [label]: value }, count);
      },
    });
  }

  const boundModel = boundedNames(MAX_MODELS);
  const boundTenant = boundedNames(MAX_TENANTS);
  const ownerOf = ({ tenantId = "" }: ObservedRun) => (tenantLabel ? { tenant: boundTenant(tenantId) } : {});

  function countAttempt(
    run: ObservedRun,
    event: StepSucceeded | StepFailed,
    labels: { readonly executor: string; readonly outcome: string },
  ): void {
    const { executor } = labels;
    const { at, startedAt, costMicro = 0, unpriced, usage = {} } = event;
    attempts.inc(labels);
    if (startedAt !== undefined) stepSeconds.observe({ executor }, toSeconds(at - startedAt));
    if (costMicro > 0) cost.inc({ executor, ...ownerOf(run) }, costMicro / 1_000_000);
    if (unpriced === true) unpricedAttempts.inc({ executor });
    for (const direction of ["input", "output"] as const) {
      const count = tokensIn(usage, `${direction}_tokens`);
      const model = typeof usage["model"] === "string" ? boundModel(usage["model"]) : "unknown";
      if (count > 0) tokens.inc({ direction, model }, count);
    }
  }

  return {
    contentType: registry.contentType,

    text: () => registry.metrics(),

    countRequest({ method: sent, route, status, durationMs }) {
      const method = METHODS.has(sent) ? sent : "other";
      requests.inc({ method, route, status: String(status) });
      requestSeconds.observe({ method, route }, durationMs / 1_000);
    },

    committed(run, events) {
      for (const { event, executor = "none" } of events) {
        switch (event.type) {
          case "runStarted":
            runsStarted.inc(ownerOf(run));
            break;
          case "runFinished":
            runsFinished.inc({ status: event.status, ...ownerOf(run) });
            if (run.uncertainMicro) uncertainCost.inc(ownerOf(run), run.uncertainMicro / 1_000_000);
            runSeconds.observe({ status: event.status }, toSeconds(event.at - run.startedAt));
            break;
          case "stepSucceeded":
            if (executor === "none") break;
            countAttempt(run, event, { executor, outcome: event.reused === undefined ? "succeeded" : "reused" });
            break;
          case "stepFailed":
            countAttempt(run, event, { executor, outcome: "failed" });
            break;
          case "stepInterrupted":
            attempts.inc({ executor, outcome: event.holds === true ? "held" : "interrupted" });
            break;
          case "approvalAsked":
            approvals.inc({ event: "requested" });
            break;
          case "approvalAnswered":
            approvals.inc({ event: event.answer });
            break;
          default:
            break;
        }
      }
    },

    called(_, { kind, name, startedAt, endedAt, errorCode }) {
      const outcome = errorCode === undefined ? "succeeded" : "failed";
      callSeconds.observe({ kind }, toSeconds(endedAt - startedAt));
      if (kind === "model") modelCalls.inc({ model: boundModel(name), outcome });
      else toolCalls.inc({ outcome });
    },
  };
}

function toSeconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}

/** Lets at most `max` names become values of a label, because each is a time series for ever. Others are `other`. */
function boundedNames(max: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= max || name.length > 200) return "other";
    known.add(name);
    return name;
  };
}

/** Other programs' agents put the counts one level deeper. */
function tokensIn(usage: JsonObject, name: string): number {
  const inner = isJsonObject(usage["usage"]) ? usage["usage"][name] : undefined;
  const value = usage[name] ?? inner;
  return typeof value === "number" && value > 0 ? value : 0;
}
