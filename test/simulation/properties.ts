import type {
  Event,
  QuestionAsked,
  StepFailed,
  StepInterrupted,
  StepSucceeded,
} from "../../src/core/history/events.ts";
import type { RunState } from "../../src/core/history/run-state.ts";
import { Downstream } from "../../src/core/interpreter/downstream.ts";
import type { Json } from "../../src/core/json.ts";
import { CoreHost, type CoreHostSetup } from "./core-host.ts";
import { dumpState } from "./dump-state.ts";
import { Random } from "./random.ts";
import { OUTSPENT, randomBehaviour } from "./random-behaviour.ts";
import { type GraphTraits, randomRun } from "./random-graph.ts";

/** What a run is drawn from: equal numbers, equal run. */
export interface Drawn {
  readonly seed: number;
  readonly size: number;
}

export interface Property {
  readonly name: string;
  /** Throws where the property does not hold. The host itself checks the invariants after every event. */
  check(drawn: Drawn): void;
}

const WILD: GraphTraits = { hasTimeouts: true, hasAborts: true, hasAtMostOnce: true, hasCalls: true };
/** Without what a delay alone would change. */
const CALM: GraphTraits = { hasTimeouts: false, hasAborts: false, hasAtMostOnce: false, hasCalls: true };

export const PROPERTIES: readonly Property[] = [
  {
    name: "every run ends, and leaves nothing behind",
    check: (drawn) => {
      const host = drawHost(drawn, WILD).run();
      checkOneOutcome(host);
    },
  },
  {
    name: "a run cut after any event and rebuilt ends with the same outputs",
    check: (drawn) => {
      const whole = drawHost(drawn, CALM).run();
      for (const seq of someSeqs(drawn, whole.events.length, 8)) {
        const cut = drawHost(drawn, CALM).dieAfter(seq).run();
        expectEqual(`the outputs after a cut at ${seq}`, cut.output(), whole.output());
        expectEqual(`the steps' outputs after a cut at ${seq}`, sorted(cut.outputs()), sorted(whole.outputs()));
        expectEqual(`the status after a cut at ${seq}`, cut.status, whole.status);
      }
    },
  },
  {
    name: "a refold of the stored events equals the live state at every moment",
    check: (drawn) => {
      const host = drawHost(drawn, WILD).start();
      do expectEqual("the refolded state", dump(host.rebuild()), dump(host.state));
      while (host.tick());
    },
  },
  {
    name: "decisions taken anew equal the recorded ones",
    check: (drawn) => {
      const host = drawHost(drawn, WILD).run();
      const { state, taken, recorded } = host.redecide();
      expectEqual("the decisions", taken, recorded);
      expectEqual("the state", dump(state), dump(host.state));
    },
  },
  {
    name: "a run that is cancelled at any moment starts nothing but finally, and ends",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const host = drawHost(drawn, WILD).later(random.int(0, 40), () => host.cancel());
      if (random.chance(0.3)) host.later(random.int(41, 30_100), () => host.cancel());
      host.run();
      checkRefold(host);
    },
  },
  {
    name: "a run survives deaths of its process at any moment, and none of them fails a step that may be repeated",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const crashes = Array.from({ length: random.int(1, 12) }, () => random.int(1, 60));
      const host = drawHost(drawn, WILD)
        .dieAfter(...crashes)
        .run();
      checkRefold(host);
      checkOneOutcome(host);
      checkAtMostOnce(host);
      checkDeaths(host);
    },
  },
  {
    name: "a run that is parked and taken up again ends",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const host = drawHost(drawn, WILD).later(random.int(0, 30), () => {
        if (host.state.phase !== "open") return;
        host.park();
        host.crash();
      });
      host.run();
      checkRefold(host);
      checkAtMostOnce(host);
    },
  },
  {
    name: "what is spent is what tasks have cost, whatever is aborted, retried or crashes",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const host = drawHost(drawn, WILD, { isCostly: true, maxCostMicro: random.int(1, 20_000) });
      if (random.chance(0.3)) host.later(random.int(0, 30), () => host.cancel());
      if (random.chance(0.3)) host.dieAfter(random.int(1, 30));
      host.run();
      checkRefold(host);
      checkCosts(host);
    },
  },
  {
    name: "what has too little ends the run by its budget, whatever else happens",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const limits = { isCostly: true, isGreedy: true, maxCostMicro: random.int(1, 20_000) };
      const host = drawHost(drawn, WILD, limits);
      if (random.chance(0.2)) host.later(random.int(0, 30), () => host.cancel());
      if (random.chance(0.3)) host.dieAfter(random.int(1, 30));
      host.run();
      checkRefold(host);
      checkCosts(host);
      if (host.state.ending?.code === OUTSPENT)
        throw new Error("The run has failed of what its budget was too little for.");
    },
  },
  {
    name: "no more tries begin than are allowed, but those of finally, and a rebuilt run counts them alike",
    check: (drawn) => {
      const random = new Random(drawn.seed);
      const maxTries = random.int(1, 12);
      const host = drawHost(drawn, WILD, { uses: { maxTries, maxDurationMs: random.int(20, 400) } });
      if (random.chance(0.3)) host.later(random.int(0, 30), () => host.cancel());
      if (random.chance(0.3)) host.dieAfter(random.int(1, 30));
      host.run();
      checkRefold(host);
      const made = new Set(host.calls.map(({ path, attempt }) => `${path}@${attempt}`));
      const tries = host.events.filter(({ event }) => endsTry(event) && made.has(`${event.path}@${event.attempt}`));
      const allowed = tries.filter(({ event }) => "path" in event && !event.path.includes("~finally")).length;
      if (allowed > maxTries) throw new Error(`${allowed} tries were made, ${maxTries} are allowed`);
    },
  },
  {
    name: "whatever sees another input after one output has changed stands downstream of it",
    check: (drawn) => {
      const before = drawHost(drawn, CALM).run();
      const succeeded = before.calls.filter(({ path }) => before.outputs().has(path));
      const target = succeeded[new Random(drawn.seed).int(0, succeeded.length - 1)]?.path;
      if (target !== undefined) checkDownstream(drawn, before, target);
    },
  },
];

/** Runs once more, with another output of the target. */
function checkDownstream(drawn: Drawn, before: CoreHost, target: string): void {
  const downstream = new Downstream(target);
  const inputs = new Map(before.calls.map(({ path, input }) => [path, JSON.stringify(input)]));
  const behaviour = randomBehaviour({ seed: drawn.seed, failing: 0.3 });
  const after = new CoreHost({
    ...randomRun(drawn.seed, drawn.size, CALM),
    behaviour: {
      ...behaviour,
      task: (call) => {
        const instance = after.state.active.get(call.path);
        const hasChanged = inputs.get(call.path) !== JSON.stringify(call.input);
        if (hasChanged && instance !== undefined && !downstream.has(instance)) {
          throw new Error(`${call.path} depends on ${target} and is not downstream of it`);
        }
        const result = behaviour.task(call);
        return call.path === target && "output" in result
          ? { ...result, output: { n: 5, list: [], is: "changed" } }
          : result;
      },
    },
  });
  after.run();
}

function drawHost(
  { seed, size }: Drawn,
  traits: GraphTraits,
  {
    isCostly = false,
    isGreedy = false,
    ...limits
  }: { isCostly?: boolean; isGreedy?: boolean } & Pick<CoreHostSetup, "maxCostMicro" | "uses"> = {},
): CoreHost {
  const behaviour = randomBehaviour({ seed, failing: 0.3, isCostly, isGreedy });
  const mostBegun = [1, 2, 5, undefined][seed % 4];
  return new CoreHost({ ...randomRun(seed, size, traits), behaviour, mostBegun, ...limits });
}

/** An attempt that only asks, or is parked, goes on later. */
function endsTry(event: Event): event is StepSucceeded | StepFailed | StepInterrupted {
  const isOutcome = event.type === "stepSucceeded" || event.type === "stepFailed";
  return isOutcome || (event.type === "stepInterrupted" && event.cause === "crash");
}

function checkRefold(host: CoreHost): void {
  expectEqual("the refolded state", dump(host.rebuild()), dump(host.state));
  const { taken, recorded } = host.redecide();
  expectEqual("the decisions", taken, recorded);
}

/** Each attempt has one outcome at most, the late ones of orphans included. */
function checkOneOutcome(host: CoreHost): void {
  const seen = new Set<string>();
  for (const event of outcomesOf(host)) {
    const attempt = `${event.path}@${event.attempt}`;
    if (seen.has(attempt)) throw new Error(`${attempt} has two outcomes`);
    seen.add(attempt);
  }
}

/** After a dispatch whose effect is not known to be absent there is no other one. */
function checkAtMostOnce(host: CoreHost): void {
  const once = new Set(host.atMostOncePaths);
  const effects = new Map(
    outcomesOf(host).map((event) => [
      `${event.path}@${event.attempt}`,
      event.type === "stepFailed" ? event.effect : event.type === "stepSucceeded" ? "done" : "none",
    ]),
  );
  const spent = new Set<string>();
  for (const { path, attempt } of host.calls) {
    if (!once.has(path)) continue;
    if (spent.has(path)) throw new Error(`${path} is done twice`);
    if (effects.get(`${path}@${attempt}`) !== "none") spent.add(path);
  }
}

/** What may be repeated is done again, or held until a person lets it go on. */
function checkDeaths(host: CoreHost): void {
  const failed = host.state.failures.find(({ code }) => code === "POISON");
  if (failed !== undefined) throw new Error(`${failed.path} has failed of deaths of the process`);
  const alone = new Map<string, number>();
  for (const { event } of host.events) {
    if (event.type === "runResumed") alone.clear();
    if (event.type !== "stepInterrupted" || event.counts !== true) continue;
    const start = host.events.findLast(
      ({ event: { type, ...of } }) => type === "stepStarted" && isSame(of, event),
    )?.event;
    const count = (alone.get(event.path) ?? 0) + (start?.type === "stepStarted" && start.flight === 1 ? 1 : 0);
    if (count > 2) throw new Error(`${event.path} goes on after ${count} deaths alone`);
    alone.set(event.path, count);
  }
}

function isSame(of: object, { path, attempt }: StepInterrupted): boolean {
  return "path" in of && of.path === path && "attempt" in of && of.attempt === attempt;
}

/** Everything that was reported is booked once: on outcomes that count and on late ones alike. */
function checkCosts(host: CoreHost): void {
  const byAttempt = new Map<string, { early: number; total: number }>();
  for (const { event } of host.events) {
    if (event.type !== "costReported" && !isOutcome(event)) continue;
    const attempt = `${event.path}@${event.attempt}`;
    const cost = byAttempt.get(attempt) ?? { early: 0, total: 0 };
    if (event.type === "costReported") cost.early += event.costMicro;
    else cost.total = event.costMicro ?? 0;
    byAttempt.set(attempt, cost);
  }
  let spent = 0;
  for (const { early, total } of byAttempt.values()) spent += Math.max(early, total);
  expectEqual("what is booked", host.state.budget.spentMicro, spent);
}

type AttemptEnd = StepSucceeded | StepFailed | QuestionAsked;

function isOutcome(event: Event): event is AttemptEnd {
  const { type } = event;
  if (type === "stepSucceeded" || type === "stepFailed") return true;
  return type === "approvalAsked" && event.attempt !== undefined;
}

function outcomesOf(host: CoreHost): AttemptEnd[] {
  return host.events.flatMap(({ event }) => (isOutcome(event) ? [event] : []));
}

function someSeqs({ seed }: Drawn, count: number, wanted: number): number[] {
  if (count <= wanted) return Array.from({ length: count }, (_, index) => index + 1);
  const random = new Random(seed);
  return Array.from({ length: wanted }, () => random.int(1, count));
}

function dump(state: RunState): string {
  return JSON.stringify(dumpState(state));
}

function sorted(outputs: ReadonlyMap<string, Json>): unknown {
  return [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));
}

function expectEqual(what: string, is: unknown, wanted: unknown): void {
  const [left, right] = [JSON.stringify(is), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what} differ: ${left?.slice(0, 2000)} instead of ${right?.slice(0, 2000)}`);
}
