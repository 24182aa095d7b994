import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { expectPlaces } from "../../test/properties/expect-places.ts";
import { editedTexts, editedTrees } from "../../test/properties/random-edits.ts";
import { rounds } from "../../test/properties/rounds.ts";
import { ProblemList } from "./problem-list.ts";
import { PUBLISHED, type PublishedShape } from "./published-schemas.ts";
import { toJsonSchema } from "./shape/json-schema.ts";
import { Reader, TOP } from "./shape/shape.ts";
import { readYaml } from "./source/yaml-source.ts";

const MARKDOWN =
  "---\nname: reviewer\ndescription: Reviews: all\ntools: Read, Bash(git *), mcp__a__b\nmodel: opus\n---\n\nBe strict.\n";

interface Mutated {
  /** Its JSON Schema. */
  readonly schema: string;
  /** Of the files, and what the edited ones are called. */
  readonly ending: "yaml" | "json" | "md";
  readonly valid: readonly string[];
  /** Texts that stand where they should not. */
  readonly fragments: readonly string[];
  /** Values that stand where they should not. */
  readonly parts?: readonly unknown[];
}

const DIALECTS: { readonly [dialect: string]: Mutated } = {
  sandcastle: {
    schema: "sandcastle-workflow.schema.json",
    ending: "yaml",
    valid: textsOf(
      /^(test\/fixtures\/sandcastle\/valid\/.*|examples\/[^/]*|templates\/.*\/workflows\/.*)\.yaml$/,
      "steps:\n  - ",
    ),
    fragments: [
      "{input.x}",
      "{",
      "}",
      `\${X}`,
      ": ",
      "- ",
      "\t",
      "\n",
      '"',
      "'",
      "*a",
      "&a ",
      "<<: ",
      "#",
      "[",
      "]",
      "steps",
      "\u0000",
      "1e999",
      "{steps.a.output.b}",
    ],
  },
  agents: {
    schema: "agents-file.schema.json",
    ending: "json",
    valid: textsOf(
      /^(test\/fixtures\/agents\/valid|examples\/agents|templates\/[^/]*)\/.*\.json$/,
      /"(agents|components|type)"/,
    ),
    fragments: [
      '"type": "agent",',
      '"name": "Writer",',
      '{"name": "Writer", "type": "workflow"}',
      "---",
      "name:",
      ": ",
      ",",
      "[",
      "]",
      "{",
      "}",
      '"',
      "\n",
      "__proto__",
      "constructor",
      "\u0000",
      "\uFEFF",
      "1e999",
      "null",
      "*",
      "&a ",
    ],
    parts: [
      { name: "Writer", type: "agent" },
      { name: "Article", type: "workflow" },
      ["Article", "Revise", "Revise"],
      { type: "graph_workflow", name: "G", nodes: ["A", "A"], edges: [["A", "A"]] },
      { type: "linear_workflow", name: "L", steps: ["L"] },
      JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1, "toString": "x"}'),
      "True",
      "0.7",
      null,
      true,
      1e308,
      "",
    ],
  },
  uhlp: {
    schema: "uhlp-workflow.schema.json",
    ending: "yaml",
    valid: textsOf(/^(test\/fixtures\/uhlp\/valid|examples\/uhlp|templates)\/.*\.yaml$/, "startAt:"),
    fragments: [
      "steps.a.output.b",
      "trigger.payload.list",
      "item.x == 1 && (",
      "filter(trigger.payload, x => x > item)",
      "'text'",
      "{{ x }}",
      `\${X}`,
      "{",
      "}",
      ": ",
      "- ",
      "\t",
      "\n",
      '"',
      "'",
      "*a",
      "&a ",
      "<<: ",
      "#",
      "[",
      "]",
      "steps",
      "startAt",
      "__proto__",
      "constructor",
      "\u0000",
      "1e999",
      "-1",
    ],
    parts: [
      { type: "control", subtype: "loop", list: "trigger.payload", body: "a" },
      { type: "control", subtype: "try", body: { type: "jit", target: "a.py" }, catch: "a", finally: "b" },
      { type: "control", subtype: "parallel", branches: ["a", "b", "a"] },
      {
        type: "control",
        subtype: "split",
        list: "item",
        routes: { a: {}, b: { condition: "item", body: "a" } },
        default: "a",
      },
      { type: "control", target: { subtype: "wait", duration: "1d" } },
      { startAt: "a", steps: { a: { type: "mcp", target: "t" } } },
      JSON.parse('{"__proto__": {"type": "mcp"}, "constructor": 1, "toString": "x"}'),
      [{ condition: "step.output.x", nextStep: "a" }, { end: true }],
      null,
      true,
      1e308,
      "",
    ],
  },
  terminal: {
    schema: "terminal-workflow.schema.json",
    ending: "json",
    valid: textsOf(/^(examples\/terminal|templates)\/.*\.json$/, '"initial_state"'),
    fragments: ["{", "}", "[", "]", '"', ",", ": ", "\n", "__proto__", "\u0000", "1e999", "null"],
    parts: [
      ...["{session_id}", "{", "(", "[a-", "open", "__proto__", "{env.X}", "run_workflow", "\u0000"],
      ...[null, -1, 1e300, {}, []],
    ],
  },
  "agents in Markdown": {
    schema: "",
    ending: "md",
    valid: [MARKDOWN],
    fragments: ["---", "name:", ": ", "[", "]", "\n", "*", "&a "],
  },
};

describe.each(Object.entries(DIALECTS))("%s", (_dialect, { schema, ending, valid, fragments, parts = [] }) => {
  const published = PUBLISHED.find(({ file }) => file === schema);
  const file = `mutated.${ending}`;
  const read = (text: string): unknown => (ending === "json" ? JSON.parse(text) : parse(text, { merge: true }));
  const trees = ending === "md" ? undefined : editedTrees(valid.map(read), [...fragments, ...parts]);

  test("a valid text with random edits compiles or gives an error with a place", async () => {
    const texts = editedTexts(valid, fragments);
    await fc.assert(
      fc.asyncProperty(texts, (text) => expectPlaces({ text, file })),
      { numRuns: rounds(30) },
    );
  });

  test.runIf(trees !== undefined)(
    "a valid tree with random edits compiles or gives an error with a place",
    async () => {
      await fc.assert(
        fc.asyncProperty(trees ?? fc.constant(null), (tree) => expectPlaces({ text: JSON.stringify(tree), file })),
        { numRuns: rounds(30) },
      );
    },
  );

  test.runIf(published !== undefined)(
    "the published schema agrees with the loader: valid is what it finds no error in",
    () => {
      if (published === undefined || trees === undefined) return;
      const validate = new Ajv({ strict: false, ownProperties: true, logger: false }).compile(
        toJsonSchema(published.shape, published),
      );
      for (const text of valid) {
        const isValid = findErrors(JSON.stringify(read(text)), published)?.length === 0;
        expect(validate(read(text)), `${JSON.stringify(validate.errors)} ${text}`).toBe(isValid);
      }
      const drawn = fc
        .sample(trees, { numRuns: DRAWN, seed: Number(process.env["SEED"] ?? 41) })
        .map((tree) => JSON.stringify(tree))
        .flatMap((text) => {
          const errors = findErrors(text, published);
          return errors === undefined ? [] : [{ text, errors, fits: validate(JSON.parse(text)), why: validate.errors }];
        });
      const unequal = drawn.filter(({ errors, fits }) => fits !== (errors.length === 0));
      const share = 1 - unequal.length / drawn.length;
      const refused = drawn.filter(({ errors }) => errors.length > 0).length;
      console.log(
        `${published.file}: ${(100 * share).toFixed(2)} % of ${drawn.length} files agree, ${refused} of them refused`,
      );
      expect(drawn.length).toBeGreaterThanOrEqual(500);
      expect(share, JSON.stringify(unequal.slice(0, 3))).toBeGreaterThanOrEqual(0.99);
    },
  );
});

/** So many edited files per dialect. A few are none that could have a shape. */
const DRAWN = 1_000;

/** The errors of a text's shape. Undefined: it is none that could have a shape. */
function findErrors(text: string, { shape, rules }: PublishedShape): readonly string[] | undefined {
  const problems = new ProblemList({ text });
  const root = readYaml(problems);
  if (root === undefined || problems.hasErrors) return undefined;
  const reader = new Reader({ problems, rules });
  shape.read(root, TOP, reader);
  const errors = problems.toArray().filter(({ severity }) => severity === "error");
  const unknown = errors.filter(({ code }) => code === "UNKNOWN_KEY");
  return reader.faulty.length + unknown.length === 0 ? [] : errors.map(({ message }) => message);
}

/** Files of the repository that have this path and hold this text. */
function textsOf(path: RegExp, held: string | RegExp): readonly string[] {
  const root = new URL("../../", import.meta.url);
  return ["test/fixtures", "examples", "templates"]
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((name) => path.test(name) && !name.includes("graph"))
    .map((name) => readFileSync(new URL(name, root), "utf8"))
    .filter((text) => (typeof held === "string" ? text.includes(held) : held.test(text)));
}
