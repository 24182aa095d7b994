import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { WaitStep } from "../../../core/graph/graph.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { Json } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { bindAll } from "../values/bind-step.ts";

/** Reports what a wait waits for, where that has to be computed. Throws `WAIT_INVALID`. */
export async function beginWait(run: LiveRun, instance: Instance, at: number): Promise<void> {
  const { wait } = instance.step.step as WaitStep;
  const { path } = instance;
  const expr = wait.for === "duration" ? wait.durationMs : wait.for === "instant" ? wait.at : wait.name;
  const [value = null] = await bindAll(run, instance, [expr]);
  const begun = wait.for === "event" ? toSignal(value) : toUntil(wait, at, value);
  if (begun !== undefined) {
    run.apply({ type: "waitBegun", at, path, ...begun });
    return;
  }
  const message = `"${path}" cannot wait for ${JSON.stringify(value).slice(0, 100)}.`;
  throw new PawlError("WAIT_INVALID", { message });
}

function toSignal(value: Json): { readonly signal: string } | undefined {
  if (typeof value === "number") return { signal: String(value) };
  return typeof value === "string" && value !== "" ? { signal: value } : undefined;
}

function toUntil(wait: WaitStep["wait"], at: number, value: Json): { readonly until: number } | undefined {
  const until = wait.for === "duration" ? addDuration(at, value) : toInstant(value);
  return until === undefined ? undefined : { until };
}

function addDuration(at: number, value: Json): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? at + value : undefined;
}

function toInstant(value: Json): number | undefined {
  const instant = typeof value === "string" ? Date.parse(value) : value;
  return typeof instant === "number" && Number.isFinite(instant) ? instant : undefined;
}
