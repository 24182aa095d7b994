import type { Text } from "../shape/shape.ts";
import type { YamlMap, YamlNode } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseInputs, type StepSource } from "./parse-work.ts";
import {
  flagAt,
  mapAt,
  nodeAt,
  numberAt,
  referenceAt,
  textAt,
  timeLimitMsAt,
  toReference,
  toText,
} from "./read-node.ts";
import type { Block, MergeBody, NamedBlock, Route, StepBody } from "./workflow.ts";

export type ParseBlock = (node: YamlNode | undefined, inlineId: string) => Block | undefined;

const UNREADABLE: StepBody = { type: "unreadable" };

/** What a control step does. Fields that are data may stand under `inputMapping`; those under `target` have been moved. */
export function parseControl(step: StepSource, parseBlock: ParseBlock, context: ParseContext): StepBody {
  const reader = new ControlReader(step, parseBlock, context);
  switch (textAt(step.map, "subtype")?.value) {
    case "formatResponse":
      return reader.formatResponse();
    case "loop":
      return reader.loop();
    case "parallel":
      return reader.parallel();
    case "branch":
      return reader.branch();
    case "split":
      return reader.split();
    case "merge":
      return reader.merge();
    case "wait":
      return reader.wait();
    case "subworkflow":
      return reader.subworkflow();
    case "try":
      return reader.attempt();
    default:
      return reader.unknown();
  }
}

class ControlReader {
  readonly #map: YamlMap;
  readonly #mapping: YamlMap | undefined;
  readonly #isFaulty: boolean;
  readonly #parseBlock: ParseBlock;
  readonly #context: ParseContext;

  constructor({ map, isFaulty }: StepSource, parseBlock: ParseBlock, context: ParseContext) {
    this.#map = map;
    this.#mapping = mapAt(map, "inputMapping");
    this.#isFaulty = isFaulty;
    this.#parseBlock = parseBlock;
    this.#context = context;
  }

  unknown(): StepBody {
    if (nodeAt(this.#map, "subtype") !== undefined) return UNREADABLE;
    return this.#missing("The control step has no `subtype`.", "Add `subtype`, for example `formatResponse`.");
  }

  formatResponse(): StepBody {
    const resultType = textAt(this.#map, "resultType") ?? textAt(this.#mapping, "resultType");
    const data = nodeAt(this.#map, "data", "dataMapping") ?? nodeAt(this.#mapping, "data", "dataMapping");
    const type = resultType?.value.replace(/^'(.*)'$/, "$1") ?? "generic";
    return { type: "respond", resultType: type, data: data ?? this.#mapping };
  }

  loop(): StepBody {
    const list = this.#list();
    const body = this.#block(nodeAt(this.#map, "body", "loopBodyStepId"), "body");
    if (list === undefined) return this.#missing("The step has no list.", "Add `list: EXPRESSION`.");
    if (body === undefined) return this.#missing("The step has no body.", "Add `body`: the id of a step, or a step.");
    const itemName = this.#variable("item", "iteratorVar");
    const indexName = this.#variable("index", "indexVar");
    if (itemName === indexName) return this.#invalid(`Item and number are both called \`${itemName}\`.`, "Rename one.");
    return { type: "loop", list, body, itemName, indexName, ...this.#fanOut() };
  }

  parallel(): StepBody {
    const branches = this.#branches();
    if (branches.length === 0)
      return this.#missing("The step has no branches.", "Add `branches`: steps or blocks by name.");
    return { type: "parallel", branches, continueOnError: this.#fanOut().continueOnError };
  }

  branch(): StepBody {
    if (nodeAt(this.#map, "branches", "default") !== undefined) return { type: "branch" };
    return this.#missing("The step has no branches.", "Add `branches`: a list of `{condition, nextStep}`.");
  }

  split(): StepBody {
    const list = this.#list();
    const routes = this.#routes();
    if (list === undefined) return this.#missing("The step has no list.", "Add `list: EXPRESSION`.");
    if (routes.length === 0)
      return this.#missing("The step has no routes.", "Add `routes`: a `condition` for each name.");
    const itemName = this.#variable("item", "itemVar", "iteratorVar");
    const rest = referenceAt(this.#map, "default")?.value;
    return { type: "split", list, itemName, routes, rest, ...this.#fanOut() };
  }

  merge(): StepBody {
    const sources = nodeAt(this.#map, "sources") ?? nodeAt(this.#mapping, "sources") ?? this.#mapping;
    const strategy = toStrategy(textAt(this.#map, "strategy")?.value);
    const key = textAt(this.#map, "key")?.value;
    if (sources === undefined)
      return this.#missing("The step has no sources.", "Add `sources`: a list of expressions.");
    if (strategy === "byKey" && key === undefined)
      return this.#missing("The step has no `key`.", "Add `key`: the field to join by.");
    const merged = { type: "merge", strategy, key: key ?? "" } as const;
    if (sources.kind === "list") return { ...merged, sources: sources.items };
    if (sources.kind !== "map") return UNREADABLE;
    const nodes = [...sources.entries.values()].map(({ value }) => value);
    return { ...merged, sources: nodes, names: [...sources.entries.keys()] };
  }

  wait(): StepBody {
    const duration = this.#data("duration");
    const until = toText(this.#data("until"));
    const event = toText(this.#data("event"));
    const given = [duration, until, event].filter((each) => each !== undefined);
    if (given.length === 0) return this.#missing("The step does not say what to wait for.", ONE_OF_THREE);
    if (given.length > 1) return this.#invalid(`The step waits for ${given.length} things at once.`, ONE_OF_THREE);
    if (until !== undefined) return { type: "wait", wait: { for: "instant", until } };
    if (event !== undefined) {
      const timeoutMs = timeLimitMsAt(this.#map, "timeout");
      return { type: "wait", wait: { for: "event", name: event, timeoutMs } };
    }
    return duration?.kind === "scalar" ? { type: "wait", wait: { for: "duration", duration } } : UNREADABLE;
  }

  subworkflow(): StepBody {
    const workflow: Text | undefined = textAt(this.#map, "workflowId", "workflow");
    if (workflow === undefined)
      return this.#missing("The step names no workflow.", "Add `workflowId`: a name or a file.");
    return { type: "call", workflow, input: parseInputs(this.#map) };
  }

  attempt(): StepBody {
    const body = this.#block(nodeAt(this.#map, "body"), "body");
    const caught = this.#block(nodeAt(this.#map, "catch"), "catch");
    const last = this.#block(nodeAt(this.#map, "finally"), "finally");
    if (body === undefined) return this.#missing("The step has no body.", "Add `body`: the id of a step, or a step.");
    return { type: "try", body, catch: caught, finally: last };
  }

  #missing(message: string, remedy: string): StepBody {
    return this.#report("KEY_MISSING", message, remedy);
  }

  #invalid(message: string, remedy: string): StepBody {
    return this.#report("VALUE_INVALID", message, remedy);
  }

  /** What is missing may stand there and only be unreadable. */
  #report(code: "KEY_MISSING" | "VALUE_INVALID", message: string, remedy: string): StepBody {
    const at = this.#map.entries.get("subtype")?.value ?? this.#map.entries.get("type")?.value ?? this.#map;
    if (!this.#isFaulty) this.#context.problems.error({ code, at, message, remedy });
    return UNREADABLE;
  }

  #data(name: string): YamlNode | undefined {
    return nodeAt(this.#map, name) ?? nodeAt(this.#mapping, name);
  }

  #list(): YamlNode | undefined {
    return nodeAt(this.#map, "list", "inputList") ?? nodeAt(this.#mapping, "list", "items", "inputList");
  }

  #variable(fallback: string, ...keys: readonly string[]): string {
    const name = textAt(this.#map, ...keys);
    if (name === undefined) return fallback;
    if (ROOTS.has(name.value)) {
      const message = `\`${name.value}\` means something else in expressions and cannot be a variable.`;
      this.#context.problems.error({ code: "VALUE_INVALID", at: name.at, message, remedy: "Choose another name." });
    }
    return name.value;
  }

  #block(node: YamlNode | undefined, inlineId: string): Block | undefined {
    return this.#parseBlock(node, inlineId);
  }

  #branches(): readonly NamedBlock[] {
    const node = nodeAt(this.#map, "branches");
    if (node?.kind === "list") {
      return node.items.slice(0, MOST_PARTS).flatMap((item): readonly NamedBlock[] => {
        const start = toReference(item);
        return start === undefined ? [] : [{ name: start.value, at: item, block: { kind: "reference", start } }];
      });
    }
    const named = [...(mapAt(this.#map, "branches")?.entries ?? [])];
    return named.slice(0, MOST_PARTS).flatMap(([name, { key, value }]) => {
      const block = this.#block(value, name);
      return block === undefined ? [] : [{ name, at: key, block }];
    });
  }

  #routes(): readonly Route[] {
    const routes = [...(mapAt(this.#map, "routes")?.entries ?? [])];
    return routes.slice(0, MOST_PARTS).map(([name, { value }]): Route => {
      const map = value.kind === "map" ? value : undefined;
      const condition = nodeAt(map, "condition");
      const body = this.#block(nodeAt(map, "body"), name);
      return { name, ...(condition?.kind === "scalar" ? { condition } : {}), body };
    });
  }

  #fanOut() {
    const maxConcurrent = numberAt(this.#map, "maxConcurrency", "max_concurrent") ?? 1;
    return { maxConcurrent, continueOnError: flagAt(this.#map, "continueOnError") ?? false };
  }
}

/** With what paths begin, and words of the expression language. */
const ROOTS = new Set([
  "trigger",
  "context",
  "steps",
  "step",
  "workflow",
  "error",
  "input",
  "output",
  "true",
  "false",
  "null",
  "defined",
]);

/** As the schema allows and has reported: a route's condition stands in those of all later ones. */
const MOST_PARTS = 100;

const ONE_OF_THREE = "Give one of `duration`, `until` and `event`.";

function toStrategy(written: string | undefined): MergeBody["strategy"] {
  return written === "object" || written === "byKey" ? written : "append";
}
