import { anyMap, type MapEntry, mapOf } from "../../shape/containers.ts";
import { expected, optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, text } from "../../shape/scalars.ts";
import { type Reader, type ReadOf, type Shape, type Spot, to } from "../../shape/shape.ts";
import { variants } from "../../shape/variants.ts";
import type { Range } from "../../source/source-text.ts";
import { isNull, type YamlMap, type YamlNode, type YamlScalar } from "../../source/yaml-node.ts";
import type { BlockOf, LevelOf } from "../workflow.ts";
import { controlKinds, placeOfKind } from "./control-shape.ts";
import { attempting, conditional, shaping, spending, taking } from "./step-fields.ts";
import { ids, reference, textOrMap } from "./texts.ts";
import { leadOn, type TransitionDefinition, toTransitions, transitions } from "./transition-shape.ts";
import { httpKind, workKinds } from "./work-shape.ts";

/** A step without its id, which is the key before it. */
export interface StepContent {
  readonly map: YamlMap;
  readonly body: StepBody;
  readonly transitions: readonly TransitionDefinition[];
  /** Part of it has the wrong shape: what is not there may only be unreadable. */
  readonly isFaulty: boolean;
}

export interface StepDefinition extends StepContent {
  readonly id: string;
  /** The place of the id. */
  readonly at: Range;
}

export type Level = LevelOf<StepDefinition>;
export type Block = BlockOf<StepDefinition>;

/** One that is written in place gets an id from where it stands. */
export const block: Shape<(inlineId: string) => Block> = {
  expected: "a text or a map",
  kinds: ["text", "number", "map"],
  read(node, spot, reader) {
    if (node.kind === "map") return readBlock(node, spot, reader);
    if (node.kind === "list") return reader.wrongType(node, spot, this);
    const start = reference.read(node, spot, reader);
    return start && (() => ({ kind: "reference", start }));
  },
  toSchema: (writer) =>
    writer.define("block", () => ({
      description:
        "What runs inside a control step: the id of a step on the same level (that step, and every step that its transitions lead to), one step written here, or `{startAt, steps}`. In a block a step without transitions ends it, and so does a transition to the control step itself. The output of the last step is that of the block.",
      anyOf: [
        reference.toSchema(writer),
        {
          type: "object",
          if: { required: ["type"] },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: step.toSchema(writer),
          else: levelShape.toSchema(writer),
        },
      ],
    })),
};

const common = {
  description: optional(text(), "For people: what the step is for."),
  transitions: optional(
    transitions,
    "What follows the step. Either a map by outcome, or one list in which the first entry whose condition holds is taken, the first entry without a condition is the default after a success, and the second one the default after a failure.",
  ),
  end: optional(flag(), "The workflow (or the block) ends after this step."),
  compensate: optional(
    to(block, (make) => make("compensate")),
    "Takes back what the step has done, where the run fails or is cancelled later: a step or a block, which reads what the step can read, and its output. What was done last is taken back first, each time that it was done once.",
  ),
};

const work = variants("type", {
  common: { ...common, ...conditional, ...taking, ...shaping, ...attempting, ...spending },
  kinds: { ...workKinds, http: object({}, { open: true }), control: object({}, { open: true }) },
  says: "What the step does: `jit` runs a function of a script, `llm` asks a model, `mcp` calls a tool, `http` sends a request, `control` works on the flow itself.",
});

const request = variants("type", {
  common: {
    ...common,
    ...conditional,
    ...shaping,
    ...attempting,
    ...spending,
    target: optional(anyMap(), "The keys of a request may stand under `target` as well."),
  },
  kinds: { http: httpKind },
  says: "`http`.",
  spread: "target",
});

const control = variants("subtype", {
  common: {
    type: optional(choice(["control"]), "`control`."),
    ...common,
    target: optional(textOrMap, "The keys of a control step may stand under `target` as well."),
  },
  kinds: controlKinds(block),
  says: "Which control step it is.",
  missing: (map) => ({
    at: placeOfKind(map),
    message: "The control step has no `subtype`.",
    remedy: "Add `subtype`, for example `formatResponse`.",
  }),
  spread: "target",
});

/** For the tables of keys: what reads a control step is chosen before. */
const documented = { ...work, kindShapes: { ...workKinds, http: httpKind, control } };

export type WorkBody = Exclude<ReadOf<typeof work>, { readonly type: "control" | "http" }>;
export type HttpBody = ReadOf<typeof request>;
export type ControlBody = ReadOf<typeof control>;
/** Undefined: what it does has been reported. */
export type StepBody = WorkBody | HttpBody | ControlBody | undefined;
export type WorkOf<Type extends WorkBody["type"]> = Extract<WorkBody, { readonly type: Type }>;
export type ControlOf<Subtype extends ControlBody["subtype"]> = Extract<ControlBody, { readonly subtype: Subtype }>;

export function subtypeOf(body: StepBody): ControlBody["subtype"] | undefined {
  return body !== undefined && "subtype" in body ? body.subtype : undefined;
}

export function conditionOf(body: StepBody): YamlScalar | undefined {
  return body !== undefined && "if" in body ? body.if : undefined;
}

export function blocksOf(body: StepBody): readonly Block[] {
  if (body === undefined) return [];
  const undo = toList(body.compensate);
  return "subtype" in body ? [...undo, ...blocksOfControl(body)] : undo;
}

function blocksOfControl(body: ControlBody): readonly Block[] {
  switch (body.subtype) {
    case "loop":
    case "while":
      return toList(body.body);
    case "parallel":
      return (body.branches ?? []).map(({ block }) => block);
    case "split":
      return (body.routes ?? []).flatMap((route) => toList(route.body));
    case "try":
      return [...toList(body.body), ...toList(body.catch), ...toList(body.finally)];
    default:
      return [];
  }
}

function toList<T>(item: T | undefined): readonly T[] {
  return item === undefined ? [] : [item];
}

const step: Shape<StepContent> = {
  expected: "a map",
  kinds: ["map"],
  parts: [documented],
  read(node, spot, reader) {
    const faultsBefore = reader.faulty.length;
    const body = readBody(node, spot, reader);
    const map = node.kind === "map" ? node : EMPTY;
    const ways = toWays(body, reader.problems);
    return { map, body, transitions: ways, isFaulty: reader.faulty.length > faultsBefore };
  },
  toSchema: (writer) =>
    writer.define("step", () => ({
      description: "One step.",
      if: { type: "object", properties: { type: { const: "control" } }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: control.toSchema(writer),
      else: {
        if: { type: "object", properties: { type: { const: "http" } }, required: ["type"] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: request.toSchema(writer),
        else: work.toSchema(writer),
      },
    })),
};

const EMPTY: YamlMap = { kind: "map", start: 0, end: 0, size: 1, entries: new Map(), inBraces: false };

function readBody(node: YamlNode, spot: Spot, reader: Reader): StepBody {
  if (isNull(node)) {
    const message = `The step ${spot.name} is empty.`;
    const at = spot.key ?? node;
    return reader.refuse({ code: "KEY_MISSING", at, message, remedy: "Add `type` and what belongs to it." });
  }
  const type = node.kind === "map" ? node.entries.get("type")?.value : undefined;
  const kind = type?.kind === "scalar" ? type.value : undefined;
  if (kind === "http") return request.read(node, spot, reader);
  if (kind !== "control") {
    const read = work.read(node, spot, reader);
    return read?.type === "control" || read?.type === "http" ? undefined : read;
  }
  const read = control.read(node, spot, reader);
  if (read !== undefined) checkControl(read, reader);
  return read;
}

/** Checks keys of a control step against each other. */
function checkControl(read: ControlBody, { problems }: Reader): void {
  const at = placeOfKind(read.at);
  if (read.subtype === "loop" && read.iteratorVar === read.indexVar) {
    const message = `Item and number are both called \`${read.indexVar}\`.`;
    problems.error({ code: "VALUE_INVALID", at, message, remedy: "Rename one." });
  }
  if (read.subtype === "merge" && read.strategy === "byKey" && read.key === undefined) {
    const message = "The step has no `key`.";
    problems.error({ code: "KEY_MISSING", at, message, remedy: "Add `key`: the field to join by." });
  }
  const short = read.subtype === "loop" ? read.at.entries.get("loopBodyStepId")?.value : undefined;
  if (short?.kind === "map") {
    const message = "`loopBodyStepId` must be a text, not a map.";
    problems.error({ code: "WRONG_TYPE", at: short, message, remedy: "Write the step under `body`." });
  }
}

function toWays(body: StepBody, problems: Reader["problems"]) {
  if (body === undefined) return [];
  const end = body.end ? (body.at.entries.get("end")?.key ?? body.at) : undefined;
  const ways = toTransitions(body.transitions, end, problems);
  if (!("subtype" in body)) return ways;
  if (body.subtype === "branch") return [...leadOn("success", [...(body.branches ?? []), body.default]), ...ways];
  return endsFlow(body) ? reportIdle(body.subtype, ways, problems) : ways;
}

/** Such a step ends its flow, whatever stands beside it, unless its condition may not hold. */
export function endsFlow(body: StepBody): boolean {
  const subtype = subtypeOf(body);
  if (subtype === "break" || subtype === "continue") return true;
  return (subtype === "formatResponse" || subtype === "fail") && conditionOf(body) === undefined;
}

function reportIdle(subtype: string, ways: readonly TransitionDefinition[], problems: Reader["problems"]): readonly [] {
  for (const { to, at } of ways) {
    if (to === "end") continue;
    const message = `\`${subtype}\` ends here; this transition is never taken.`;
    problems.warning({ code: "TRANSITION_IDLE", at, message });
  }
  return [];
}

const steps = to(mapOf(step, { min: 1, names: ids, readsNulls: true }), (entries, { faulty }) => {
  const toStep = ({ name: id, at, value }: MapEntry<StepContent>): StepDefinition => {
    return { ...value, id, at, isFaulty: value.isFaulty || faulty.includes(at) };
  };
  return new Map(entries.map((entry) => [entry.name, toStep(entry)]));
});

/** The keys of a workflow, or of a block, that hold its steps. */
export const level = {
  startAt: expected(reference, "The id of the step with which it begins."),
  steps: expected(steps, "The steps by id."),
};

const levelShape = object(level);

export function toLevel({ startAt, steps = new Map() }: Pick<ReadOf<typeof levelShape>, "startAt" | "steps">): Level {
  return { startAt, steps };
}

/** `onError` of a workflow is a block without a step around it. */
export function toOnError(block: Block | undefined, at: YamlMap): Pick<Level, "onError"> {
  const owner = {
    id: "onError",
    at: at.entries.get("onError")?.key ?? at,
    map: EMPTY,
    body: undefined,
    transitions: [],
    isFaulty: false,
  };
  return block === undefined ? {} : { onError: { owner, block } };
}

function readBlock(node: YamlMap, spot: Spot, reader: Reader): ((inlineId: string) => Block) | undefined {
  if (!node.entries.has("type")) {
    const read = levelShape.read(node, spot, reader);
    return read && (() => ({ kind: "written", level: toLevel(read) }));
  }
  const read = step.read(node, spot, reader);
  const at = { start: node.start, end: Math.min(node.end, node.start + 1) };
  return (
    read &&
    ((id) => ({ kind: "written", level: { startAt: { value: id, at }, steps: new Map([[id, { ...read, id, at }]]) } }))
  );
}
