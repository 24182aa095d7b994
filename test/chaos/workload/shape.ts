import type { Json, JsonObject } from "../../../src/core/json.ts";
import { answerTo } from "../world/value.ts";

export interface Addresses {
  /** Of the service that `http` steps ask. */
  readonly url: string;
}

/** A step that does something outside, as it must be seen there. */
export interface PlannedEffect {
  /** As the step names itself. */
  readonly step: string;
  readonly given: string;
  /** Steps whose effects must be done and recorded before. */
  readonly after: readonly string[];
  /** How often it fails first, as the input wants it. */
  readonly fails?: number;
  /** It is never done again while nobody knows what it did. */
  readonly once?: true;
}

type End = "completed" | "failed" | "cancelled" | "budget_exceeded";

/** What must be seen of a run that nothing disturbs. */
interface Expectation {
  readonly effects: readonly PlannedEffect[];
  readonly outputs: Json;
  /** The first is the undisturbed one, where nobody cancels and no budget ends. */
  readonly ends: readonly End[];
}

/** What people and programs do with a run while it is under way. */
type Deed = "answer" | "signal" | "cancel" | "rerun" | "fork";

export interface Shape {
  readonly name: string;
  /** Definitions by path in the application. */
  files(addresses: Addresses): Readonly<Record<string, string>>;
  input(label: string): JsonObject;
  expect(label: string): Expectation;
  readonly deed?: Deed;
  /** The value of `outputs` that counts, of what the API shows. */
  seen(outputs: JsonObject): Json;
}

/** The value of an `http` step, as its output has it. */
export function bodyValue(output: unknown): Json {
  if (Array.isArray(output)) return output.map(bodyValue);
  return (output as { readonly body?: { readonly value?: Json } } | null)?.body?.value ?? null;
}

interface ChainLink {
  readonly step: string;
  readonly more?: Partial<PlannedEffect>;
}

/** Steps of which each is given what the one before was answered. */
export function chainOf(label: string, seed: string, links: readonly (string | ChainLink)[]) {
  const effects: PlannedEffect[] = [];
  const values: Record<string, string> = {};
  let [given, before] = [seed, ""];
  for (const link of links) {
    const { step, more = {} } = typeof link === "string" ? { step: link } : link;
    effects.push({ step, given, after: before === "" ? [] : [before], ...more });
    given = answerTo(label, step, given);
    values[step] = given;
    before = step;
  }
  return { effects, values };
}

/** An `http` step of a Sandcastle file. */
export function httpStep(url: string, id: string, given: string, more: readonly string[] = []): string {
  return [
    `  - id: ${id}`,
    "    type: http",
    "    method: POST",
    `    url: ${url}/do`,
    `    body: {label: "{input.label}", step: "${id}", given: "${given}"}`,
    ...more.map((line) => `    ${line}`),
    "",
  ].join("\n");
}
