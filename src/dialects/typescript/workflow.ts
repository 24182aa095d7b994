import { checkGraph } from "../../core/graph/check-graph.ts";
import { findRepeat } from "../../core/graph/describe-trigger.ts";
import { isEventField } from "../../core/graph/event-match.ts";
import type { CronSettings, DagFlow, Graph, Rate, Trigger, WhenFull } from "../../core/graph/graph.ts";
import { parsePathPattern } from "../../core/graph/path-pattern.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { inputAt } from "../build-expr.ts";
import { toDebounce } from "../places.ts";
import type { DefinedFunction } from "./open-definition.ts";
import {
  AMOUNT,
  ANYTHING,
  COUNT,
  checkOptions,
  DURATION,
  FLAG,
  needed,
  oneOf,
  type Rules,
  SCHEMA,
  TEXT,
} from "./options.ts";
import { placeOfCaller } from "./place.ts";
import { makeReference } from "./reference.ts";
import { toJsonSchema } from "./schema.ts";
import { callBack, closeFlow, define, invalid, wantFunction } from "./scope.ts";
import { durationOf } from "./steps.ts";
import type { Duration, Plain, Schema, Synchronous, Value } from "./types.ts";

export interface WorkflowOptions<In, Out> {
  readonly description?: string;
  /** What it is started with: an object. */
  readonly input?: Schema<In, Out>;
  readonly budget?: {
    readonly usd?: number;
    readonly tokens?: number;
    /** All tries of all steps together. */
    readonly tries?: number;
    /** What happens where it is used up. Default: the run stops. */
    readonly then?: "stop" | "ask";
  };
  /** Of the whole run, waiting included. */
  readonly timeout?: Duration;
  /** Steps under way at once. */
  readonly concurrency?: number;
  /** How many of its runs go on at once, which `concurrency` does not say: of those with one key, a field of the input such as `customer.id`. */
  readonly runsAtOnce?: {
    readonly key?: string;
    /** Default: 1. */
    readonly limit?: number;
    /** Where no place is free. Default: a run waits in line. */
    readonly whenFull?: WhenFull;
    /** Workflows with the same scope share the places. */
    readonly scope?: string;
  };
  /** How many of its runs begin within a time, whenever that begins: of those with one key, as with `runsAtOnce`. */
  readonly rate?: {
    readonly key?: string;
    readonly limit: number;
    readonly per: Duration;
    /** Where so many have begun. Default: a run waits for its turn. */
    readonly whenFull?: Rate["whenFull"];
    /** Workflows with the same scope are counted together. */
    readonly scope?: string;
  };
  /** A run begins when no other one with its key has been started for a time; of the others only the newest begins. Instead of `runsAtOnce`. */
  readonly debounce?: { readonly key?: string; readonly wait: Duration; readonly scope?: string };
  /** What starts it by itself, where the engine serves. */
  readonly trigger?: StartedBy | readonly StartedBy[];
}

type StartedBy = {
  /** Tells it from the others: a schedule keeps its record while its name stays. */
  readonly name?: string;
} & (
  | ({ readonly cron: string; readonly timezone?: string } & CronSettings)
  | { readonly event: string }
  | { readonly queue: string }
  /** `GET /leads/{id}` and the like. `open` asks for no key. */
  | { readonly route: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`; readonly open?: boolean }
);

/** A definition: the graph that the engine runs, and the functions of its steps. */
export interface Workflow<In, Out> {
  readonly name: string;
  readonly graph: Graph;
  /** By the key that stands in the graph. */
  readonly functions: ReadonlyMap<string, DefinedFunction>;
  /** The line of the definition, for messages. */
  readonly place?: string;
  /** For the compiler alone. */
  readonly types?: { readonly input: In; readonly output: Out };
}

/** A workflow of whatever input and output. */
export type AnyWorkflow = Pick<Workflow<never, unknown>, "name" | "graph" | "functions" | "place">;

/**
 * Defines a workflow. The callback runs once, at once, and does no work: it declares steps, which run when a run comes to them.
 * Steps run as soon as what they are given is there, so that steps that need nothing of each other run side by side. Throws
 * `DEFINITION_INVALID`, `STEP_DUPLICATE`, `REFERENCE_MISUSED`, each with the line.
 */
export function workflow<R, In extends object = Record<never, never>, Filled extends object = In>(
  name: string,
  options: WorkflowOptions<In, Filled>,
  callback: ((run: { readonly input: Value<Filled> }) => R) & Synchronous<R>,
): Workflow<In, Plain<R>> {
  if (typeof name !== "string" || name.trim() === "")
    throw invalid("A workflow has no name", "Give it one: runs are found by it.");
  wantFunction(callback, `The workflow \`${name}\``);
  checkOptionsOf(name, options);
  const { definition, result: flow } = define(name, (root): DagFlow => {
    const input = makeReference<Filled>({ expr: inputAt(), needs: [{ scope: root }] });
    return closeFlow(root, callBack(root, callback, { input }));
  });
  const graph = toGraph(name, options, flow);
  const [problem] = checkGraph(graph);
  if (problem !== undefined)
    throw invalid(
      `The workflow \`${name}\` cannot run: ${problem.path === undefined ? "" : `${problem.path}: `}${problem.message.replace(/\.$/, "")}`,
      "Change the step named.",
    );
  const functions = [...definition.functions].map(([key, does]) => [`${name}/${key}`, does] as const);
  return { name, graph, functions: new Map(functions), place: placeOfCaller().words };
}

function checkOptionsOf(name: string, options: WorkflowOptions<object, object>): void {
  checkOptions(`the workflow \`${name}\``, options, {
    description: TEXT,
    input: SCHEMA,
    budget: ANYTHING,
    timeout: DURATION,
    concurrency: COUNT,
    runsAtOnce: ANYTHING,
    rate: ANYTHING,
    debounce: ANYTHING,
    trigger: ANYTHING,
  });
  const then = oneOf("stop", "ask");
  const key = {
    is: "a field of the input, such as `customer.id`",
    holds: (value: unknown) => isEventField(String(value)),
  };
  const whenFull = oneOf("queue", "cancelOlder", "skip");
  checkOptions("`runsAtOnce`", options.runsAtOnce ?? {}, { key, limit: COUNT, whenFull, scope: TEXT });
  const most = {
    is: "a whole number from 1 to 1000",
    holds: (value: unknown) => COUNT.holds(value) && Number(value) <= 1_000,
  };
  const rate = { key, limit: needed(most), per: needed(DURATION), whenFull: oneOf("queue", "skip"), scope: TEXT };
  if (options.rate !== undefined) checkOptions("`rate`", options.rate, rate);
  checkOptions("`budget`", options.budget ?? {}, { usd: AMOUNT, tokens: COUNT, tries: COUNT, then });
  const { debounce, runsAtOnce } = options;
  if (debounce === undefined) return;
  checkOptions("`debounce`", debounce, { key, wait: needed(DURATION), scope: TEXT });
  if (runsAtOnce !== undefined)
    throw invalid(`The workflow \`${name}\` has \`runsAtOnce\` and \`debounce\``, "Leave one of them out.");
}

function toGraph(name: string, options: WorkflowOptions<object, object>, flow: DagFlow): Graph {
  const { description, input, budget = {}, timeout, concurrency, runsAtOnce, rate, debounce, trigger } = options;
  const schema = input === undefined ? undefined : toJsonSchema(input);
  const timeoutMs = durationOf(timeout);
  return {
    format: 1,
    dialect: "typescript",
    name,
    ...(description === undefined ? {} : { description }),
    input: { ...(schema === undefined ? {} : { schema }), declared: [], defaults: defaultsOf(schema) },
    flow,
    limits: {
      ...(budget.usd === undefined ? {} : { maxCostMicro: Math.round(budget.usd * 1_000_000) }),
      ...(budget.tokens === undefined && budget.tries === undefined
        ? {}
        : {
            uses: {
              ...(budget.tokens === undefined ? {} : { maxTokens: budget.tokens }),
              ...(budget.tries === undefined ? {} : { maxTries: budget.tries }),
            },
          }),
      ...(budget.then === undefined ? {} : { onExceeded: budget.then }),
      ...(concurrency === undefined ? {} : { maxInFlight: concurrency }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
    ending: { deadLetter: true },
    ...(trigger === undefined ? {} : { triggers: toTriggers([trigger].flat()) }),
    ...(runsAtOnce === undefined ? {} : { concurrency: { limit: runsAtOnce.limit ?? 1, ...toShared(runsAtOnce) } }),
    ...(debounce === undefined
      ? {}
      : { concurrency: { ...toShared(debounce), ...toDebounce(durationOf(debounce.wait)) } }),
    ...(rate === undefined ? {} : { rate: { limit: rate.limit, perMs: durationOf(rate.per) ?? 1, ...toShared(rate) } }),
    envAllowed: [],
    settings: {},
  };
}

function toShared<Choice extends WhenFull>(shared: {
  readonly key?: string;
  readonly whenFull?: Choice;
  readonly scope?: string;
}) {
  const { key, whenFull = "queue", scope } = shared;
  return {
    ...(key === undefined ? {} : { key: inputAt(...key.split(".")) }),
    whenFull,
    ...(scope === undefined ? {} : { scope }),
  } as const;
}

const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function toTriggers(all: readonly StartedBy[]): readonly Trigger[] {
  const triggers = all.map(toTrigger);
  const [what, said = ""] = findRepeat(triggers) ?? [];
  if (what === undefined) return triggers;
  throw invalid(`Two triggers have the same ${what}: \`${said}\``, "Change one of them, or leave it out.");
}

const NAME = {
  is: "a name of letters, digits, `_` and `-`",
  holds: (value: unknown) => /^[A-Za-z_][\w-]{0,99}$/.test(String(value)),
};
const OBJECT = { is: "an object", holds: isJsonObject };
const STARTS = {
  cron: {
    cron: needed(TEXT),
    timezone: TEXT,
    input: OBJECT,
    catchUp: oneOf("none", "one", "all"),
    overlap: oneOf("skip", "queue", "cancel_previous"),
    name: NAME,
  },
  event: { event: needed(TEXT), name: NAME },
  queue: { queue: needed(TEXT), name: NAME },
  route: { route: needed(TEXT), open: FLAG, name: NAME },
};

function toTrigger(trigger: StartedBy): Trigger {
  const kind = (["cron", "event", "queue", "route"] as const).find((each) => Object.hasOwn(Object(trigger), each));
  if (kind === undefined)
    throw invalid(
      "A trigger says nothing that starts a run",
      "Write `{ cron }`, `{ event }`, `{ queue }` or `{ route }`.",
    );
  const rules: Rules<{ readonly [name: string]: unknown }> = STARTS[kind];
  checkOptions(`the trigger \`${kind}\``, { ...trigger }, rules);
  const named = trigger.name === undefined ? {} : { name: trigger.name };
  if ("cron" in trigger) {
    const { cron: schedule, timezone = "UTC", name: _, ...says } = trigger;
    return { kind: "cron", schedule, timezone, ...named, ...(Object.keys(says).length === 0 ? {} : { says }) };
  }
  if ("event" in trigger) return { kind: "event", event: trigger.event, ...named };
  if ("queue" in trigger) return { kind: "queue", queueName: trigger.queue, ...named };
  const [method = "", pathPattern = "", ...more] = trigger.route.split(" ");
  const pattern = parsePathPattern(pathPattern);
  const isMethod = METHODS.includes(method) && more.length === 0;
  if (!isMethod || "fault" in pattern) {
    const reason = isMethod && "fault" in pattern ? `: ${pattern.fault.replace(/\.$/, "")}` : "";
    throw invalid(
      `\`${trigger.route}\` is no route${reason}`,
      "Write `POST /leads/{id}`: GET, POST, PUT, PATCH or DELETE, and a path.",
    );
  }
  return { kind: "http", method, pathPattern, ...named, ...(trigger.open === true ? { auth: "open" } : {}) };
}

function defaultsOf(schema: JsonObject | undefined): JsonObject {
  const properties = (schema?.["properties"] ?? {}) as { readonly [name: string]: JsonObject };
  const given = Object.entries(properties).flatMap(([name, property]) =>
    property["default"] === undefined ? [] : [[name, property["default"]] as const],
  );
  return Object.fromEntries(given);
}
