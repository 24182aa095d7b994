import type { Expr } from "../../src/core/expressions/expr.ts";
import type {
  ApproveStep,
  DagFlow,
  Each,
  Flow,
  Graph,
  MachineFlow,
  RetryPolicy,
  Step,
  Transition,
} from "../../src/core/graph/graph.ts";
import type { Json } from "../../src/core/json.ts";
import { Random } from "./random.ts";

export interface GraphTraits {
  /** Time-outs of flows, waits and approvals: what they cut off depends on the moment. */
  readonly hasTimeouts: boolean;
  /** Steps that end their flow when they fail: what their siblings reach depends on the moment. */
  readonly hasAborts: boolean;
  readonly hasAtMostOnce: boolean;
  readonly hasCalls: boolean;
}

export interface RandomRun {
  readonly graph: Graph;
  readonly callable: { readonly [name: string]: Graph };
  readonly input: { readonly [name: string]: Json };
}

/** Where a generated step may look. */
interface Place {
  readonly depth: number;
  /** Inside a fan-out: `item` means something. */
  readonly hasItem: boolean;
  /** The nearest flow with variables is a machine. */
  readonly hasVariables: boolean;
}

/** A run over a drawn graph. `size` is about the number of steps of its outermost flow. */
export function randomRun(seed: number, size: number, traits: GraphTraits): RandomRun {
  const random = new Random(seed);
  const maker = new GraphMaker(random, traits);
  const callable = {
    child: newGraph("child", maker.flow(Math.min(size, 3), { depth: 2, hasItem: false, hasVariables: false })),
    // A workflow that calls itself, until the depth stops it.
    endless: newGraph("endless", {
      kind: "dag",
      steps: [{ kind: "call", id: "again", workflow: text("endless"), input: input(), onFailure: "skip" }],
    }),
  };
  const flow = maker.flow(size, { depth: 0, hasItem: false, hasVariables: false });
  // Which of two loops reaches the limit of the whole run depends on the moment.
  const maxVisits = traits.hasTimeouts ? { maxVisits: 60 } : {};
  const maxInFlight = random.chance(0.3) ? { maxInFlight: random.int(1, 3) } : {};
  const graph = { ...newGraph("drawn", flow), limits: { ...maxVisits, maxDepth: 3, ...maxInFlight } };
  const items = Array.from({ length: random.int(0, 4) }, (_, n) => ({ name: `item ${n}`, n, ok: random.chance(0.7) }));
  return { graph, callable, input: { items, flag: random.chance(0.5), count: random.int(0, 5) } };
}

export function newGraph(name: string, flow: Flow): Graph {
  return {
    format: 1,
    dialect: "direct",
    name,
    input: { declared: [], defaults: {} },
    flow,
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  };
}

class GraphMaker {
  readonly #random: Random;
  readonly #traits: GraphTraits;
  #ids = 0;

  constructor(random: Random, traits: GraphTraits) {
    this.#random = random;
    this.#traits = traits;
  }

  flow(size: number, place: Place): Flow {
    return this.#random.chance(0.3) ? this.#machine(size, place) : this.#dag(size, place);
  }

  #dag(size: number, place: Place): DagFlow {
    const random = this.#random;
    const steps: Step[] = [];
    const count = random.int(random.chance(0.05) ? 0 : 1, Math.max(1, size));
    for (let n = 0; n < count; n += 1) {
      const after = random.some(steps, 2 / (steps.length + 1)).map(({ id }) => id);
      steps.push(this.#dagStep(steps, after, size, place));
    }
    // Of two in one flow the one that ends later would count.
    if (random.chance(0.15))
      steps.push({ ...this.#dagStep(steps, [], 1, place), kind: "respond", value: input() } as Step);
    const last = steps.at(-1);
    return { kind: "dag", steps, ...(last !== undefined && random.chance(0.2) ? { result: last.id } : {}) };
  }

  #dagStep(before: readonly Step[], after: readonly string[], size: number, place: Place): Step {
    const random = this.#random;
    const needs = before.filter(({ id }) => after.includes(id));
    const each = random.chance(0.3) ? this.#each(needs) : undefined;
    const follows = each === undefined && needs.some(isFannedOut) && random.chance(0.5);
    const hasItem = each !== undefined || follows || place.hasItem;
    const step = this.#step(size, { ...place, hasItem }, after);
    const singles = needs.filter((need) => !isFannedOut(need));
    const when = random.chance(0.2) ? this.#condition(singles, each !== undefined && isInputList(each)) : undefined;
    return {
      ...step,
      after,
      ...(each === undefined ? {} : { each }),
      ...(follows ? { itemFields: ["name"] } : {}),
      ...(when === undefined ? {} : { when }),
    };
  }

  #machine(size: number, place: Place): MachineFlow {
    const random = this.#random;
    const count = random.int(1, Math.max(1, size));
    const inner = { ...place, hasVariables: true };
    const drafts = Array.from({ length: count }, () => this.#step(size, inner, []));
    const ids = drafts.map(({ id }) => id);
    const steps = drafts.map((draft, index): Step => {
      const each = random.chance(0.15) ? this.#each([]) : undefined;
      // The instances of a fan-out would set the variable in the order in which they end.
      const assign =
        each === undefined && random.chance(0.4)
          ? { assign: { seen: { op: "path", root: "output", path: ["n"] } satisfies Expr } }
          : {};
      return {
        ...draft,
        ...(each === undefined ? {} : { each }),
        ...assign,
        ...(random.chance(0.85) ? { transitions: this.#transitions(ids, index, each === undefined) } : {}),
      };
    });
    return {
      kind: "machine",
      start: ids[0] ?? "",
      steps,
      maxVisits: random.int(3, 15),
      variables: { seen: 0 },
    };
  }

  #transitions(ids: readonly string[], index: number, mayReadOutput: boolean): Transition[] {
    const random = this.#random;
    const transitions: Transition[] = [];
    for (let n = random.int(0, 2); n > 0; n -= 1) {
      const when: Expr = {
        op: "compare",
        by: random.pick(["<", ">", "=="]),
        left:
          mayReadOutput && random.chance(0.6)
            ? path("output", "n")
            : { op: "path", root: "vars", name: "seen", path: [] },
        right: { op: "literal", value: random.int(0, 9) },
      };
      transitions.push({
        on: random.pick(["success", "failure", "any"]),
        when,
        to: ids[random.int(0, ids.length - 1)] ?? "",
      });
    }
    const next = ids[index + 1];
    if (next !== undefined) transitions.push({ on: random.chance(0.8) ? "any" : "success", to: next });
    else transitions.push({ on: "any", to: { end: random.chance(0.9) ? "success" : "failure" } });
    return transitions;
  }

  /** A step with all that does not depend on the kind of its flow. */
  #step(size: number, place: Place, after: readonly string[]): Step {
    const random = this.#random;
    this.#ids += 1;
    const id = random.chance(0.05) ? `odd/id ${this.#ids}#` : `s${this.#ids}`;
    const inner = { ...place, depth: place.depth + 1 };
    const smaller = Math.ceil(size / 2);
    const isDeep = place.depth >= 2;
    const common = {
      id,
      ...(random.chance(0.3) ? { retry: this.#retry() } : {}),
      ...this.#failureOf(),
      ...(!isDeep && random.chance(0.12) ? { catch: this.flow(smaller, inner) } : {}),
      ...(!isDeep && random.chance(0.12) ? { finally: this.flow(2, inner) } : {}),
      ...(this.#traits.hasAtMostOnce && random.chance(0.3) ? { atMostOnce: true } : {}),
    };
    const seen = this.#seen(after, place);
    const kind = random.share();
    if (kind < 0.55) return { ...common, kind: "task", executor: "code", input: seen };
    if (kind < 0.65 && !isDeep) {
      const timeoutMs = this.#traits.hasTimeouts && random.chance(0.3) ? { timeoutMs: random.int(1, 40) } : {};
      return { ...common, ...timeoutMs, kind: "flow", flow: this.flow(smaller, inner) };
    }
    if (kind < 0.7 && !isDeep && this.#traits.hasCalls) {
      const workflow = random.chance(0.8) ? "child" : random.pick(["endless", "missing"]);
      return { ...common, kind: "call", workflow: text(workflow), input: input() };
    }
    if (kind < 0.76) return { ...common, ...this.#wait(id) };
    if (kind < 0.82) return { ...common, ...this.#approve(seen) };
    return { ...common, kind: "set", ...(random.chance(0.7) ? { value: seen } : {}) };
  }

  #failureOf(): { readonly onFailure?: "abort" | "skip" | "continue" } {
    const random = this.#random;
    if (this.#traits.hasAborts && random.chance(0.5)) return {};
    return { onFailure: random.pick(["skip", "continue"]) };
  }

  #seen(after: readonly string[], { hasItem, hasVariables }: Place): Expr {
    const needs = after.map((name): [string, Expr] => [name, { op: "path", root: "steps", name, path: [] }]);
    return {
      op: "object",
      entries: {
        needs: { op: "object", entries: Object.fromEntries(needs) },
        ...(hasItem
          ? { item: { op: "path", root: "item", path: [] }, index: { op: "path", root: "index", path: [] } }
          : {}),
        ...(hasVariables ? { seen: { op: "path", root: "vars", name: "seen", path: [] } } : {}),
      },
    };
  }

  #wait(id: string): Pick<Extract<Step, { kind: "wait" }>, "kind" | "wait"> {
    const random = this.#random;
    const kind = random.share();
    if (kind < 0.4)
      return { kind: "wait", wait: { for: "duration", durationMs: { op: "literal", value: random.int(0, 20) } } };
    if (kind < 0.6) return { kind: "wait", wait: { for: "instant", at: path("input", "count") } };
    const timeoutMs = this.#traits.hasTimeouts && random.chance(0.5) ? { timeoutMs: random.int(1, 20) } : {};
    const name: Expr = random.chance(0.5)
      ? text(`go ${id}`)
      : { op: "text", parts: ["go ", { value: path("input", "count"), written: "?" }] };
    return { kind: "wait", wait: { for: "event", name, ...timeoutMs } };
  }

  #approve(show: Expr): Pick<ApproveStep, "kind" | "message" | "show" | "approvalTimeoutMs" | "onApprovalTimeout"> {
    const random = this.#random;
    const timing = { approvalTimeoutMs: random.int(1, 20), onApprovalTimeout: random.pick(["abort", "skip"]) } as const;
    return {
      kind: "approve",
      message: text("May it?"),
      ...(random.chance(0.5) ? { show } : {}),
      ...(this.#traits.hasTimeouts && random.chance(0.5) ? timing : {}),
    };
  }

  #retry(): RetryPolicy {
    const random = this.#random;
    return {
      maxAttempts: random.int(1, 4),
      backoff: random.pick(["fixed", "linear", "exponential"]),
      initialMs: random.int(0, 5),
      maxMs: 20,
      jitter: random.pick([0, 0.5, 1]),
    };
  }

  #each(needs: readonly Step[]): Each {
    const random = this.#random;
    const maxConcurrent = random.int(1, 3);
    const kind = random.share();
    const need = needs.at(-1);
    if (kind < 0.4 && need !== undefined) {
      const ownPath = isFannedOut(need) ? [] : ["list"];
      return {
        list: { op: "path", root: "steps", name: need.id, path: ownPath },
        maxConcurrent,
        coerce: random.chance(0.2),
      };
    }
    if (kind < 0.5)
      return {
        list: {
          op: "literal",
          value: [
            { name: "a", n: 1, ok: true },
            { name: "b", n: 2, ok: false },
          ],
        },
        maxConcurrent,
      };
    if (kind < 0.55) return { list: path("input", "missing"), maxConcurrent };
    return { list: path("input", "items"), maxConcurrent };
  }

  #condition(needs: readonly Step[], hasInputItem: boolean): Expr {
    const random = this.#random;
    const need = needs.at(-1);
    if (hasInputItem && random.chance(0.5)) return { op: "path", root: "item", path: ["ok"] };
    if (need === undefined || random.chance(0.3))
      return { op: "compare", by: "==", left: path("input", "flag"), right: { op: "literal", value: true } };
    const left: Expr = { op: "path", root: "steps", name: need.id, path: ["n"] };
    const compared: Expr = {
      op: "compare",
      by: random.pick(["<", ">="]),
      left,
      right: { op: "literal", value: random.int(0, 9) },
    };
    return random.chance(0.3) ? { op: "or", of: [compared, path("input", "flag")] } : compared;
  }
}

function isFannedOut(step: Step): boolean {
  return step.each !== undefined || step.itemFields !== undefined;
}

function isInputList({ list }: Each): boolean {
  return list.op === "path" && list.root === "input";
}

function text(value: string): Expr {
  return { op: "literal", value };
}

function path(root: "input" | "output", ...keys: string[]): Expr {
  return { op: "path", root, path: keys };
}

function input(): Expr {
  return path("input");
}
