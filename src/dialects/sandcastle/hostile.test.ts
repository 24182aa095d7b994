import { describe, expect, test } from "vitest";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const step = "steps:\n  - id: a\n    prompt: hi\n";
const aliasBomb = Array.from({ length: 30 }, (_, i) => `k${i + 1}: &k${i + 1} [*k${i}, *k${i}, *k${i}, *k${i}]\n`).join(
  "",
);

const hostile: { readonly [name: string]: string } = {
  "10,000 open brackets": `name: ${"[".repeat(10_000)}`,
  "10,000 closed brackets": `name: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n${step}`,
  "10,000 open braces": `name: ${"{a: ".repeat(10_000)}`,
  "10,000 nested lists in one line": `name: x\nsteps: ${"- ".repeat(10_000)}a`,
  "10,000 complex keys": "? ".repeat(10_000),
  "an alias bomb": `k0: &k0 x\n${aliasBomb}${step}`,
  "an alias to itself": "name: &a [*a]\nsteps: *a\n",
  "100,000 aliases": `name: &n x\nsteps: [${"*n, ".repeat(100_000)}]`,
  "merge keys in a circle": "name: x\nsteps: &s\n  - <<: *s\n",
  "binary garbage": String.fromCharCode(...Array.from({ length: 4_096 }, (_, i) => (i * 7919) % 256)),
  "lone surrogates": "name: \ud800\nsteps: \udfff\n",
  "null characters": "name: \0\nsteps:\0\n  - \0",
  "only tabs": "\t\t\t\n\t-\t\n",
  "numbers without end": `name: x\nsteps: [{id: a, prompt: hi, timeout: ${"9".repeat(5_000)}, max_turns: 1e400}]`,
  "60,000 unknown keys and no step": `name: x\nsteps: []\n${Array.from({ length: 60_000 }, (_, i) => `k${i}: 1\n`).join("")}`,
  "a step list of scalars": `name: x\nsteps: [${"1, ".repeat(400)}]`,
  "tags of other languages": `name: !!python/object/apply:os.system ["ls"]\n${step}`,
  "a schema that refers to itself and to nothing": `name: x\nsteps: [{id: a, prompt: hi, output_schema: {$ref: "#/a", a: {$ref: "#/b"}}}]`,
  "a prototype in the place of the map": "__proto__: {steps: [{id: a, prompt: hi}]}\n",
  "braces without end": `name: x\nsteps: [{id: a, prompt: "${"{steps.".repeat(20_000)}"}, {id: a}]`,
  "every step depends on every step": `name: x\nsteps:\n${Array.from({ length: 300 }, (_, i) => `  - {id: s${i}, prompt: hi, depends_on: [${Array.from({ length: 300 }, (_, j) => `s${j}`).join(", ")}]}\n`).join("")}`,
};

describe("hostile text gives problems with places and never an exception", () => {
  for (const [name, text] of Object.entries(hostile)) {
    test(name, async () => {
      const { graph, problems } = await loadDefinition({ text });
      expect(graph).toBeUndefined();
      expect(problems.filter((problem) => problem.severity === "error" && problem.place !== undefined)).not.toEqual([]);
      for (const problem of problems) expect(renderProblem(problem, text)).not.toBe("");
    });
  }
});

test("names that every object has are names like any other", async () => {
  const ids = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];
  const steps = ids.map(
    (id, i) => `  - {id: ${id}, depends_on: [${ids.slice(0, i).join(", ")}], prompt: "{input.${id}}"}\n`,
  );
  const { graph, problems } = await loadDefinition({ text: `name: x\nsteps:\n${steps.join("")}` });
  expect(problems).toEqual([]);
  expect(graph?.flow.steps.map((each) => each.id)).toEqual(ids);
});
