import { expect, test } from "vitest";
import { placeInJson, placeInYaml } from "./place-in-text.ts";

/** `|` is the cursor. */
function at(text: string) {
  return { text: text.replace("|", ""), cursor: text.indexOf("|") };
}

const YAML: readonly (readonly [name: string, text: string, path: string, wants: "key" | "value"])[] = [
  ["the top", "na|", "", "key"],
  ["a value at the top", "context: au|", "context", "value"],
  ["a key of a step", "steps:\n  - id: a\n    pro|", "steps/*", "key"],
  ["the first key of a step", "steps:\n  - id: a\n  - i|", "steps/*", "key"],
  ["a list without indentation", "steps:\n- id: a\n  pro|", "steps/*", "key"],
  ["a value of a step", "steps:\n  - id: a\n    type: appr|", "steps/*/type", "value"],
  ["an object in a step", "steps:\n  - id: a\n    retry:\n      max_attempts: 2\n      back|", "steps/*/retry", "key"],
  ["behind an object", "steps:\n  - id: a\n    retry:\n      max_attempts: 2\n    mod|", "steps/*", "key"],
  ["behind the steps", "steps:\n  - id: a\n    prompt: x\non|", "", "key"],
  ["a step by its name", "steps:\n  a:\n    type: llm\n  b:\n    ty|", "steps/b", "key"],
  ["behind a comment", "steps:\n  a:\n    # why: not\n    ty|", "steps/a", "key"],
];

for (const [name, written, path, wants] of YAML) {
  test(`YAML: ${name}`, () => {
    const { text, cursor } = at(written);
    const place = placeInYaml(text, cursor);
    expect({ path: place?.path.join("/"), wants: place?.wants }).toEqual({ path, wants });
  });
}

test("YAML: nothing is completed in a block of text", () => {
  const { text, cursor } = at(`${"steps:\n  - id: a\n    prompt: |-\n      som".replace("|-", "BLOCK")}|`);
  expect(placeInYaml(text.replace("BLOCK", "|-"), cursor - 3)).toBeUndefined();
});

test("YAML: keys that are there already are known, above and below", () => {
  const { text, cursor } = at("steps:\n  - id: a\n    |\n    prompt: x\n");
  expect(placeInYaml(text, cursor)?.taken.toSorted()).toEqual(["id", "prompt"]);
});

const JSON_PLACES: readonly (readonly [name: string, text: string, path: string, wants: "key" | "value"])[] = [
  ["a key at the top", '{ "na|', "", "key"],
  ["a value", '{ "initial_state": "op|', "initial_state", "value"],
  ["a key of a state", '{ "states": { "open": { "act|', "states/open", "key"],
  [
    "a key in a list",
    '{ "states": { "open": { "transitions": [{ "condition": {} }, { "ne|',
    "states/open/transitions/*",
    "key",
  ],
  ["behind an object", '{ "states": { "open": {} }, "de|', "", "key"],
];

for (const [name, written, path, wants] of JSON_PLACES) {
  test(`JSON: ${name}`, () => {
    const { text, cursor } = at(written);
    const place = placeInJson(text, cursor);
    expect({ path: place?.path.join("/"), wants: place?.wants }).toEqual({ path, wants });
  });
}
