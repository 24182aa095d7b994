import { setTimeout } from "node:timers/promises";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { LostCall } from "../../../ports/executor.ts";
import { type AgentInput, readAgentInput } from "../agent-input.ts";
import { chooseServer, type Server, type ServerOptions, toRouteUrl } from "./choose-server.ts";
import { readText } from "./request-timeouts.ts";

interface ServerRun {
  readonly id: string;
  /** The beginning. */
  readonly prompt: string;
  readonly model: string | undefined;
  /** By our clock. */
  readonly startedAt: number;
  readonly isRunning: boolean;
  readonly costMicro: number | undefined;
}

interface Asked {
  readonly call: LostCall;
  readonly input: AgentInput;
}

interface Batch {
  readonly asked: Asked[];
  readonly snapshot: Promise<readonly ServerRun[]>;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The calls of all runs that are taken up together are looked for together. */
const GATHER_MS = 100;
const PROMPT_CHARS = 100;
/** The list has so many: older ones may be missing. */
const LIST_LENGTH = 50;
/** A `Date` header has whole seconds. */
const SKEW_KNOWN_MS = 1_500;
const EARLY_MS = 2_000;
const FIRST_LOOK_AGAIN_MS = 5_000;
const MAX_LOOK_AGAIN_MS = 60_000;

/** Finds the cost of calls that were cut off in the server's list of runs (`GET /runs`). A run and a call are matched only if no other fits. */
export class CostFinder {
  readonly #options: ServerOptions;
  readonly #batches = new Map<string, Batch>();
  /** Runs that belong to a call. */
  readonly #claimed = new Set<string>();

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** In micro-dollars. Undefined: it is not certain. Never rejects. */
  async find(call: LostCall, signal: AbortSignal): Promise<number | undefined> {
    const server = chooseServer(this.#options, call);
    if ("status" in server) return undefined;
    try {
      const batch = this.#batchOf(server, signal);
      const asked = { call, input: readAgentInput(call.input) };
      batch.asked.push(asked);
      await setTimeout(GATHER_MS, undefined, { signal, ref: false });
      const run = matchOnly(asked, batch.asked, await batch.snapshot);
      if (run === undefined || this.#claimed.has(run.id)) return undefined;
      this.#claimed.add(run.id);
      return await this.#waitForCost(run, server, signal);
    } catch {
      // It stays as unknown as it was.
      return undefined;
    }
  }

  #batchOf(server: Server, signal: AbortSignal): Batch {
    const key = server.queryUrl.href;
    const known = this.#batches.get(key);
    if (known !== undefined) return known;
    const batch: Batch = { asked: [], snapshot: this.#list(server, signal) };
    this.#batches.set(key, batch);
    batch.snapshot.catch(() => undefined);
    void setTimeout(GATHER_MS, undefined, { ref: false }).then(() => this.#batches.delete(key));
    return batch;
  }

  /** The agent may still be at work, though its answer is not heard. */
  async #waitForCost(run: ServerRun, server: Server, signal: AbortSignal): Promise<number | undefined> {
    let found: ServerRun | undefined = run;
    for (
      let pauseMs = FIRST_LOOK_AGAIN_MS;
      found?.isRunning === true;
      pauseMs = Math.min(2 * pauseMs, MAX_LOOK_AGAIN_MS)
    ) {
      await setTimeout(pauseMs, undefined, { signal, ref: false });
      found = (await this.#list(server, signal)).find(({ id }) => id === run.id);
    }
    return found?.costMicro;
  }

  async #list({ queryUrl, reach, keys }: Server, signal: AbortSignal): Promise<readonly ServerRun[]> {
    const url = toRouteUrl(queryUrl.href.replace(/\/query$/, ""), "runs");
    if (url === undefined) return [];
    const headers = {
      accept: "application/json",
      ...(keys.apiKey === undefined ? {} : { authorization: `Bearer ${keys.apiKey.trim()}` }),
    };
    const answer = await this.#options.outbound.open(
      { url: url.href, method: "GET", headers, reach },
      AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    );
    const text = await readText(answer.body, MAX_BYTES);
    answer.body.destroy();
    const told = answer.status === 200 ? parseJson(text) : undefined;
    const list: Json | undefined = isJsonObject(told) ? told["runs"] : told;
    const skew = Date.parse(answer.headers.date ?? "") - Date.now();
    const skewMs = Math.abs(skew) > SKEW_KNOWN_MS ? skew : 0;
    return Array.isArray(list)
      ? list.flatMap((entry: Json) => (isJsonObject(entry) ? readRun(entry, skewMs) : []))
      : [];
  }
}

/** The only run that can be the call's, if it can be no other call's. */
function matchOnly(asked: Asked, all: readonly Asked[], runs: readonly ServerRun[]): ServerRun | undefined {
  const oldest = Math.min(...runs.map(({ startedAt }) => startedAt));
  if (runs.length >= LIST_LENGTH && oldest > asked.call.reservedAt - EARLY_MS) return undefined;
  const [run, ...others] = runs.filter((each) => canBe(each, asked));
  if (run === undefined || others.length > 0) return undefined;
  return all.some((other) => other !== asked && canBe(run, other)) ? undefined : run;
}

function canBe({ prompt, model, startedAt }: ServerRun, { call, input }: Asked): boolean {
  const isOfPrompt = input.prompt.slice(0, PROMPT_CHARS).trim() === prompt.trim();
  // One may be short for the other.
  const isOfModel =
    model === undefined || input.model === undefined || model.includes(input.model) || input.model.includes(model);
  return isOfPrompt && isOfModel && startedAt >= call.reservedAt - EARLY_MS && startedAt <= call.until;
}

function readRun(entry: JsonObject, skewMs: number): readonly ServerRun[] {
  const { id, prompt, model, status, started_at: started, cost_usd: cost } = entry;
  const startedAt = readTime(started);
  if (typeof id !== "string" || typeof prompt !== "string" || startedAt === undefined) return [];
  return [
    {
      id,
      prompt,
      model: typeof model === "string" && model !== "" ? model : undefined,
      startedAt: startedAt - skewMs,
      isRunning: status === "running",
      costMicro: typeof cost === "number" && cost >= 0 ? Math.round(cost * 1_000_000) : undefined,
    },
  ];
}

/** A time without a zone is in UTC. */
function readTime(time: Json | undefined): number | undefined {
  const at =
    typeof time === "number"
      ? time * 1_000
      : typeof time === "string"
        ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`)
        : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
