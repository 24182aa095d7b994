import { createHash, randomUUID } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { eventKey } from "../../core/graph/event-match.ts";
import type { Concurrency } from "../../core/graph/graph.ts";
import { inputNamesOf } from "../../core/graph/shape.ts";
import type { RunPlace, RunStarted } from "../../core/history/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { NewRun } from "../../ports/journal.ts";
import type { StartRates } from "../../ports/service/start-rates.ts";
import type { RunStart } from "../run-host.ts";
import type { Pinned } from "./graph-cache.ts";
import { evaluateOnInput, inputProjection, type TextTools } from "./values/project-output.ts";

interface Identity {
  readonly runId: string;
  readonly at: number;
}

export function toNewRun(start: RunStart, { runId, at, pinned }: Identity & { readonly pinned: Pinned }): NewRun {
  const { graph } = start.definition;
  const { callbackUrl, tenantId, parentRunId } = start;
  return {
    id: runId,
    workflow: graph.name,
    dialect: graph.dialect,
    graph: pinned.graphHash,
    definition: pinned.definitionHash,
    createdAt: at,
    callbackUrl,
    tenantId,
    parentRunId,
  };
}

/** `storedInput`: the input as stored. What control reads of it lies in the event, where no secret may be. */
export function toRunStarted(
  start: RunStart,
  {
    runId,
    at,
    storedInput,
    sealed,
    rate,
    tools,
  }: Identity & {
    readonly storedInput: JsonObject;
    readonly sealed: string | undefined;
    readonly rate: RunStarted["rate"];
    readonly tools: TextTools;
  },
): RunStarted {
  const { definition, input, maxCostMicro, uses, onExceeded, options, lineage } = start;
  const { concurrency } = definition.graph;
  // What begins now needs nothing more of its slot.
  const waits = rate !== undefined && (concurrency !== undefined || rate.startsAt > at);
  return {
    type: "runStarted",
    at,
    runId,
    workflow: definition.graph.name,
    inputNames: inputNamesOf(definition.graph, input),
    maxCostMicro,
    uses,
    onExceeded,
    options,
    lineage,
    sealed,
    ...(concurrency && { place: placeOf(concurrency, start, tools) }),
    ...(waits ? { rate } : {}),
    ...inputProjection(definition.graph, storedInput, tools),
  };
}

function placeOf({ limit, whenFull, waitMs, ...shared }: Concurrency, start: RunStart, tools: TextTools): RunPlace {
  const of = waitMs === undefined ? "concurrency" : "debounce";
  return { key: sharedKey(of, shared, start, tools), limit, whenFull, ...(waitMs === undefined ? {} : { waitMs }) };
}

/** Takes a slot where the workflow has a `rate`. Throws `PLACES_TAKEN` where none is free now, and a run does not wait for one. */
export async function takeSlot(
  start: RunStart,
  {
    at,
    rates,
    tools,
  }: { readonly at: number; readonly rates: (() => Promise<StartRates>) | undefined; readonly tools: TextTools },
): Promise<RunStarted["rate"]> {
  const { rate, name } = start.definition.graph;
  if (rate === undefined) return undefined;
  if (rates === undefined)
    throw new PawlError("NOT_SUPPORTED", { message: `"${name}" says \`rate\`, which is not held here.` });
  const { limit, perMs, whenFull, ...shared } = rate;
  const key = sharedKey("rate", shared, start, tools);
  const slot = await (await rates()).take({ key, limit, perMs, waits: whenFull === "queue" }, at);
  if (slot !== undefined) return slot;
  const message = `Of "${name}" ${limit} of its key ${limit === 1 ? "has" : "have"} begun within ${perMs} ms.`;
  throw new PawlError("PLACES_TAKEN", { message });
}

/** The key is stored as a hash: it may be of a secret. Throws `INPUT_INVALID` where there is none: runs without a key do not share one. */
function sharedKey(
  of: "concurrency" | "rate" | "debounce",
  { key, scope }: Pick<Concurrency, "key" | "scope">,
  { input, tenantId, definition }: RunStart,
  tools: TextTools,
): string {
  const { name } = definition.graph;
  let isMissing = false;
  const noteMissing = () => {
    isMissing = true;
  };
  const value =
    key === undefined ? "" : eventKey(["key"], () => evaluateOnInput(key, input, { ...tools, noteMissing }));
  if (value === undefined || isMissing) {
    const message = `The key under \`${of}\` of "${name}" is missing in the input, too long, or no text, number or boolean.`;
    throw new PawlError("INPUT_INVALID", { message });
  }
  // A scope of its own: what waits for more starts is no run that goes on.
  const own = of === "debounce" ? [of] : [];
  const whose = [...own, tenantId ?? null, scope === undefined ? "workflow" : "scope", scope ?? name, value];
  return createHash("sha256").update(writeExact(whose)).digest("base64url");
}

/** UUIDv7 (RFC 9562): sorts by time, so that short ids and lists read well. */
export function newRunId(atMs: number): string {
  const time = atMs.toString(16).padStart(12, "0");
  // A random UUID has its random bits where version 7 wants them, and is much cheaper than drawing bytes.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
