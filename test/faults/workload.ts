import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Flow, Graph, Step } from "../../src/core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { Executor, Outcome, Task } from "../../src/ports/executor.ts";
import { literal, path, task, text, toGraph } from "./graphs.ts";
import { fail, succeed, untilAborted } from "./world.ts";

/**
 * One workflow with every kind of step and every construct around them, whose outputs are the same however often it is
 * cut: what may differ (whether a step that may run only once was cut off) is caught and comes out alike.
 */
export function workload(): Graph {
  return toGraph([...plainSteps(), ...failingSteps(), ...fanOuts(), ...flows(), ...waits(), ...values()], {
    name: "workload",
    ending: {
      storagePath: text("results/", path("run.id"), ".json"),
      completionWebhook: "http://127.0.0.1:9/hook",
      deadLetter: true,
    },
  });
}

export const WORKLOAD_INPUT: JsonObject = {
  companies: [
    { name: "acme", site: "acme.example" },
    { name: "bolt", site: "bolt.example" },
    { name: "cogs", site: "cogs.example" },
  ],
  mode: "full",
  pauseMs: 5,
  past: "2020-01-01T00:00:00Z",
};

/** Takes its process down, however often it is tried. */
export function killer(): Graph {
  return toGraph(
    [task("killer", { onFailure: "continue" }), task("behind", { after: ["killer"], input: literal("still here") })],
    {
      name: "killer",
      ending: { deadLetter: false, storagePath: text("results/", path("run.id"), ".json") },
    },
  );
}

/** Only this one may be done at most once. */
export const ONCE = "once";
export const APPROVAL = "approve";
export const SIGNAL = "go";

function plainSteps(): readonly Step[] {
  return [
    task("plain", { input: text("work in mode ", path("input.mode")) }),
    task("never", { when: { op: "compare", by: "==", left: path("input.mode"), right: literal("other") } }),
    task(ONCE, { atMostOnce: true, catch: dag([{ kind: "set", id: "same", value: literal("done once") }], "same") }),
    task("guarded", { after: ["plain"], input: path("steps.plain"), finally: dag([task("cleanup")]) }),
  ];
}

function failingSteps(): readonly Step[] {
  const retry = { backoff: "fixed", initialMs: 2, maxMs: 2, jitter: 0 } as const;
  return [
    // A failure that has done nothing gets a new key, and so counts itself; one that nobody knows of keeps it.
    task("flaky", { retry: { ...retry, maxAttempts: 3 } }),
    task("doubtful", { retry: { ...retry, maxAttempts: 4 } }),
    task("broken", { catch: dag([task("repair", { input: path("error.code") })]) }),
    task("slow", { timeoutMs: 10, onFailure: "skip" }),
    task("after-slow", { after: ["slow"] }),
  ];
}

function fanOuts(): readonly Step[] {
  return [
    task("scrape", { each: { list: path("input.companies"), maxConcurrent: 2 }, input: path("item") }),
    task("score", {
      after: ["scrape"],
      itemFields: ["site"],
      input: { op: "list", items: [path("item.site"), path("steps.scrape")] },
    }),
    task("join", { after: ["score"], input: path("steps.score") }),
    {
      kind: "flow",
      id: "batch",
      each: { list: literal([1, 2]), maxConcurrent: 2 },
      flow: dag([
        task("fetch", { input: path("item") }),
        {
          kind: "respond",
          id: "shape",
          after: ["fetch"],
          value: { op: "object", entries: { fetched: path("steps.fetch"), at: path("index") } },
        },
      ]),
    },
  ];
}

function flows(): readonly Step[] {
  const again = {
    op: "compare",
    by: "<",
    left: { op: "path", root: "vars", name: "n", path: [] },
    right: literal(3),
  } as const;
  return [
    {
      kind: "flow",
      id: "loop",
      flow: {
        kind: "machine",
        start: "poll",
        variables: { n: 0 },
        steps: [
          task("poll", {
            input: { op: "path", root: "vars", name: "n", path: [] },
            assign: { n: path("output.next") },
            transitions: [
              { on: "success", when: again, to: "poll" },
              { on: "success", to: "done" },
            ],
          }),
          { kind: "set", id: "done", value: text("polled ", { op: "path", root: "vars", name: "n", path: [] }) },
        ],
      },
    },
    {
      kind: "call",
      id: "call",
      workflow: literal("child"),
      input: { op: "object", entries: { from: path("input.mode") } },
    },
  ];
}

function waits(): readonly Step[] {
  return [
    { kind: "wait", id: "pause", wait: { for: "duration", durationMs: literal(5) } },
    { kind: "wait", id: "computed", wait: { for: "duration", durationMs: path("input.pauseMs") } },
    { kind: "wait", id: "instant", wait: { for: "instant", at: path("input.past") } },
    { kind: "wait", id: "event", wait: { for: "event", name: literal(SIGNAL) } },
    {
      kind: "approve",
      id: APPROVAL,
      after: ["plain"],
      message: text("Use ", path("steps.plain"), "?"),
      show: path("steps.plain"),
      allowEdit: true,
    },
    task("last", {
      after: ["event", APPROVAL],
      input: { op: "list", items: [path("steps.event"), path(`steps.${APPROVAL}`)] },
    }),
  ];
}

function values(): readonly Step[] {
  return [
    { kind: "set", id: "fixed", value: { op: "object", entries: { mode: path("input.mode"), three: literal(3) } } },
    task("large"),
    task("measure", { after: ["large"], input: path("steps.large") }),
  ];
}

export function childWorkflow(): Graph {
  return toGraph(
    [
      task("inner", { input: path("input.from") }),
      { kind: "respond", id: "answer", after: ["inner"], value: path("steps.inner") },
    ],
    { name: "child" },
  );
}

function dag(steps: readonly Step[], result?: string): Flow {
  return { kind: "dag", steps, ...(result === undefined ? {} : { result }) };
}

/** What a process leaves behind of each execution, whatever becomes of it. */
export interface SideEffect {
  readonly run: string;
  readonly path: string;
  readonly attempt: number;
  readonly key: string;
}

/** Does each step's work the same way every time, after writing down that it does. */
export class ScriptedExecutor implements Executor {
  readonly recordsInput = true;
  readonly #log: number;

  constructor(logPath: string) {
    this.#log = openSync(logPath, "a");
  }

  async run(call: Task, signal: AbortSignal): Promise<Outcome> {
    this.#write({ run: call.runId, path: call.path, attempt: call.attempt, key: call.idempotencyKey });
    return play(call, signal);
  }

  close(): void {
    closeSync(this.#log);
  }

  #write(effect: SideEffect): void {
    writeSync(this.#log, `${JSON.stringify(effect)}\n`);
    fsyncSync(this.#log);
  }
}

/** Long enough for the short steps of other runs to end. */
const KILL_AFTER_MS = 150;
const LARGE = "0123456789abcdef".repeat(8_000);

async function play(call: Task, signal: AbortSignal): Promise<Outcome> {
  switch (call.stepId) {
    case "flaky":
      return call.idempotencyKey.endsWith(":3")
        ? succeed("third time")
        : fail("FLAKY", { retryable: true, effect: "none" });
    case "doubtful":
      return failTwice(call);
    case "broken":
      return fail("BROKEN", { details: { why: "it always is" } });
    case "slow":
      return untilAborted(signal).then(() => fail("STOPPED"));
    case ONCE:
      return succeed("done once");
    case "poll":
      return succeed({ next: Number(call.input) + 1 }, 10);
    case "large":
      return succeed(LARGE, 5);
    case "measure":
      return succeed(typeof call.input === "string" ? call.input.length : null);
    case "killer":
      await setTimeout(KILL_AFTER_MS);
      process.kill(process.pid, "SIGKILL");
      return untilAborted(signal).then(() => fail("STOPPED"));
    default:
      return succeed({ did: call.path, with: call.input }, 1);
  }
}

async function failTwice(call: Task): Promise<Outcome> {
  const failures = Number((await call.recorded("failures")) ?? 0);
  if (failures >= 2) return succeed(`after ${failures} failures`);
  await call.record("failures", failures + 1);
  call.emit({ type: "log", event: { failure: failures + 1 } });
  return fail("DOUBTFUL", { retryable: true });
}

/** Outputs as they were stored, without what differs from run to run. */
export function withoutRunId(outputs: Json, runId: string): Json {
  const plain = JSON.stringify(outputs).replaceAll(runId, "RUN");
  const value = JSON.parse(plain) as Json;
  return isJsonObject(value) ? value : null;
}
