import { onTestFinished } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { createSandstormExecutor } from "../../src/executors/agent/sandstorm/sandstorm-executor.ts";
import { CapacityPools } from "../../src/executors/capacity/capacity-pools.ts";
import { createOutbound } from "../../src/executors/outbound/outbound.ts";
import { Places } from "../fakes/places.ts";
import { init, result } from "../fakes/sandstorm/documents.ts";
import { type Move, startFakeSandstorm, toJsonReply, toStreamReply } from "../fakes/sandstorm/fake-sandstorm.ts";
import { toEvents } from "../fakes/sandstorm/framing.ts";
import { World } from "../faults/world.ts";

const outbound = createOutbound({ allow: [], environment: process.env });

const BUSY = { detail: "Too many agents at once" };

interface SlowSandstorm {
  readonly places?: number;
  readonly holdMs?: number;
  /** Of refusals. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer begins only when the agent is done. */
  readonly isSilent?: boolean;
}

interface SandstormWorldOptions extends SlowSandstorm {
  /** What is configured for the server: at most so many calls at once. */
  readonly limit?: number;
  readonly patienceMs?: number;
}

/** A Sandstorm server that works on so many prompts at once, and refuses the others. */
export async function startSlowSandstorm({ places: count = 20, holdMs = 100, headers, isSilent }: SlowSandstorm) {
  const places = new Places(count, holdMs);
  const server = await startFakeSandstorm({
    play: ({ body }) => {
      const by = String(body["prompt"]);
      if (places.take(by)) return toStreamReply(work(by, places, isSilent === true));
      const reply = toJsonReply(429, BUSY);
      return { ...reply, headers: { ...reply.headers, ...headers } };
    },
  });
  onTestFinished(() => server.close());
  return { places, server };
}

/** A host whose agents are those of such a server. */
export async function sandstormWorld({ limit, patienceMs = 60_000, ...slow }: SandstormWorldOptions = {}) {
  const { places, server } = await startSlowSandstorm(slow);
  const limits = limit === undefined ? {} : { [server.url]: limit };
  const capacity = new CapacityPools({ clock: new SystemClock(), limits, patienceMs });
  const executor = createSandstormExecutor({ outbound, baseUrl: server.url, capacity });
  const world = new World({ host: { findExecutor: async () => executor } });
  return { world, places, server, capacity };
}

/** A server some of whose agents end with an overload of their provider; the others answer. */
export async function overloadedWorld({ failures, costUsd }: { readonly failures: number; readonly costUsd: number }) {
  let left = failures;
  const server = await startFakeSandstorm({
    play: () => {
      const words = 'API Error: 529 {"type":"overloaded_error"}';
      const fails = left-- > 0;
      const end = fails ? { is_error: true, result: words, total_cost_usd: costUsd } : { total_cost_usd: costUsd };
      return toStreamReply(toEvents([init(), result(end)]).map((bytes) => ({ do: "send", bytes })));
    },
  });
  onTestFinished(() => server.close());
  const capacity = new CapacityPools({ clock: new SystemClock(), limits: {}, patienceMs: 60_000 });
  const executor = createSandstormExecutor({ outbound, baseUrl: server.url, capacity });
  return { world: new World({ host: { findExecutor: async () => executor } }), server, capacity };
}

async function* work(by: string, places: Places, isSilent: boolean): AsyncGenerator<Move> {
  const [begin = "", end = ""] = toEvents([init(), result({ result: by })]);
  if (!isSilent) yield { do: "send", bytes: begin };
  await places.hold(by);
  yield { do: "send", bytes: end };
}

/** An agent for each of so many items; `more` is added to its step. */
export async function fanOut(more: JsonObject = {}): Promise<Graph> {
  const step = { id: "ask", prompt: "{input.name}", parallel_over: "input.items", ...more };
  const { graph, problems } = await loadDefinition({ text: JSON.stringify({ name: "many", steps: [step] }) });
  if (graph === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return liftControls(graph);
}

export function items(count: number, prefix = "item"): JsonObject {
  return { items: Array.from({ length: count }, (_, index) => ({ name: `${prefix} ${index}` })) };
}
