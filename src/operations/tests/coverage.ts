import type { Place, Step } from "../../core/graph/graph.ts";
import type { IndexedFlow } from "../../core/graph/indexed-graph.ts";
import { transitionInWords } from "../definitions/explain/in-file-words.ts";
import type { RunHistory } from "../runs/describe/describe-run-history.ts";

/** What the workflow itself has at every level, by its name in the file, and whether a run has come there. */
export interface Coverage {
  readonly steps: ReadonlyMap<string, boolean>;
  /** Also conditions of steps, which hold or not, and where failures lead. */
  readonly transitions: ReadonlyMap<string, boolean>;
}

type Tried = readonly [name: string, isTried: boolean];

/** What one of several has tried is tried. */
export function addCoverage(all: readonly Coverage[]): Coverage {
  return {
    steps: toMap(all.flatMap(({ steps }) => [...steps])),
    transitions: toMap(all.flatMap(({ transitions }) => [...transitions])),
  };
}

function toMap(all: readonly Tried[]): ReadonlyMap<string, boolean> {
  const sum = new Map<string, boolean>();
  for (const [name, isTried] of all) sum.set(name, isTried || sum.get(name) === true);
  return sum;
}

/** `batch[2]/poll#7` is of the step `batch/poll`. */
export function withoutNumbers(path: string): string {
  return path.replace(/#\d+|\[\d+\]/g, "");
}

/** What is noted of a step beside that it has begun: a transition by its number, whether its condition held, that it failed and went on. */
type Way = number | boolean | "failure";

export function wayOf(key: string, way: Way): string {
  return `${key} ${way}`;
}

/** `ways`: the transitions and conditions that the run has noted. */
export function coverageOf({ state, steps }: RunHistory, ways: ReadonlySet<string>): Coverage {
  const tried = new Set(ways);
  for (const { path, life } of steps.values()) {
    const key = withoutNumbers(path);
    tried.add(key);
    if (life.is === "ended" && (life.status === "lost" || life.status === "resumed")) tried.add(wayOf(key, "failure"));
    const caught = key.lastIndexOf("~catch/");
    if (caught !== -1) tried.add(wayOf(key.slice(0, caught), "failure"));
  }
  const all = stepsIn(state.graph.root);
  // Where nothing has a place, all of it counts.
  const hasPlaces = all.some(({ place }) => place !== undefined);
  const isWritten = ({ step }: NamedStep) => !hasPlaces || step.place !== undefined;
  const told = all.flatMap((each) =>
    [...waysOf(each, isWritten(each))].map(
      ([way, words]): Tried => [`${each.name} ${words}`, tried.has(wayOf(each.key, way))],
    ),
  );
  return {
    steps: toMap(all.filter(isWritten).map(({ key, name }) => [name, tried.has(key)])),
    transitions: toMap(told),
  };
}

/** Of a step that was made, only what was written of the step it was made for; and no end that the file does not name. */
function* waysOf({ key, name, step }: NamedStep, isWritten: boolean): Generator<readonly [Way, words: string]> {
  const { when, whenWritten, transitions = [], onFailure = "abort" } = step;
  if (when !== undefined && (isWritten || whenWritten !== undefined)) {
    const condition = whenWritten ?? "its condition holds";
    yield [true, `if ${condition}`];
    yield [false, `unless ${condition}`];
  }
  for (const [no, { on, written, to, place }] of isWritten && name === key ? transitions.entries() : [])
    if (typeof to === "string") yield [no, transitionInWords({ on, when: written, to })];
    else if (place !== undefined) yield [no, transitionInWords({ on, when: written, to: `end (${to.end})` })];
  const failed = step.catch === undefined ? onFailure : "catch";
  if (failed !== "abort" && (isWritten || name !== key))
    yield ["failure", transitionInWords({ on: "failure", to: failed })];
}

interface NamedStep {
  readonly key: string;
  /** What was made for a step has its name and place. */
  readonly name: string;
  readonly place: Place | undefined;
  readonly step: Step;
}

export function stepsIn({ steps }: IndexedFlow, around?: NamedStep): readonly NamedStep[] {
  return steps.flatMap((each) => {
    const { key, step } = each;
    const { place = around?.place } = step;
    const isMade =
      around?.place !== undefined && place?.line === around.place.line && place.column === around.place.column;
    const named = { key, name: isMade ? around.name : key, place, step };
    const inside = [each.body, each.catch, each.finally];
    return [named, ...inside.flatMap((flow) => (flow === undefined ? [] : stepsIn(flow, named)))];
  });
}
