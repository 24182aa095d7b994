import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { renderProblem } from "../../render-problem.ts";
import { toJsonSchema } from "../../shape/json-schema.ts";
import { findUnfilledNames } from "./check-template.ts";
import { promptFile, promptRules } from "./prompt-shape.ts";
import { parsePromptTemplate } from "./prompt-template.ts";

async function problemsOf(text: string): Promise<readonly string[]> {
  const { problems } = await parsePromptTemplate({ text, file: "prompts/a.yaml" });
  return problems.map(({ code, message, place }) => `${place?.line}:${place?.column} ${code} ${message}`);
}

describe("a prompt file", () => {
  test("is read with everything that it says", async () => {
    const text = `
description: Says how urgent a ticket is.
model: anthropic:claude-haiku-4-5
parameters: {temperature: 0.2, max_tokens: 300}
template: |
  Rate this ticket.

  {{ ticket | tojson }}
outputFormat: json
outputSchema:
  type: object
  properties: {urgency: {enum: [low, high]}}
  required: [urgency]
`;
    expect(await parsePromptTemplate({ text })).toEqual({
      problems: [],
      template: {
        description: "Says how urgent a ticket is.",
        model: "anthropic:claude-haiku-4-5",
        parameters: { temperature: 0.2, max_tokens: 300 },
        template: "Rate this ticket.\n\n{{ ticket | tojson }}\n",
        outputFormat: "json",
        outputSchema: { type: "object", properties: { urgency: { enum: ["low", "high"] } }, required: ["urgency"] },
      },
    });
  });

  test("needs nothing but a template", async () => {
    expect(await parsePromptTemplate({ text: 'template: "{{ text }}"' })).toEqual({
      problems: [],
      template: { template: "{{ text }}" },
    });
  });

  test("may be JSON", async () => {
    const { template } = await parsePromptTemplate({ text: '{"template": "Hi {{ name }}", "outputFormat": "text"}' });
    expect(template).toEqual({ template: "Hi {{ name }}", outputFormat: "text" });
  });

  test("may be a template by itself", async () => {
    const text = "# Title\n\n{{ name }}: {a: 1}\n";
    expect(await parsePromptTemplate({ text, file: "prompts/a.md" })).toEqual({
      problems: [],
      template: { template: text },
    });
    const { problems } = await parsePromptTemplate({ text: "Hi\n\n  {{ name | }}", file: "a.j2" });
    expect(problems).toMatchObject([{ code: "PROMPT_INVALID", place: { line: 3, column: 13, endColumn: 15 } }]);
  });

  test("with a misspelt key is refused, or read with a warning", async () => {
    const text = "template: Hi\noutputFromat: json";
    expect((await parsePromptTemplate({ text })).problems).toMatchObject([{ severity: "error", code: "UNKNOWN_KEY" }]);
    const { template, problems } = await parsePromptTemplate({ text }, { isLenient: true });
    expect(template).toEqual({ template: "Hi" });
    expect(problems).toMatchObject([
      { severity: "warning", code: "UNKNOWN_KEY", remedy: "Did you mean `outputFormat`?" },
    ]);
  });
});

test("the published schema says the same as the loader", async () => {
  const validate = new Ajv({ strict: false }).compile(
    toJsonSchema(promptFile, { title: "", description: "", rules: promptRules }),
  );
  const files = [
    "template: x",
    "{template: x, model: m, description: d, parameters: {temperature: 1, stop: [a]}, outputFormat: yaml, outputSchema: {}}",
    "{template: x, x-note: 1}",
    "model: m",
    "template: [x]",
    "{template: x, outputFormat: csv}",
    "{template: x, outputSchema: []}",
    "{template: x, parameters: 1}",
    "{template: x, outputFromat: json}",
  ];
  for (const text of files) {
    const { problems } = await parsePromptTemplate({ text });
    expect([text, validate(parse(text))]).toEqual([text, problems.length === 0]);
  }
});

describe("what is wrong is shown with its place", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["no template", "model: x", "1:1 KEY_MISSING A prompt file needs `template`"],
    ["an empty template", "template: '  '", "1:11 VALUE_INVALID `template` is empty."],
    ["a template that is a list", "template: [a]", "1:11 WRONG_TYPE `template` must be a text, not a list."],
    ["braces without quotes", "template: {{ text }}", "1:12 UNQUOTED_BRACES"],
    ["a list", "- template: x", "1:1 WRONG_TYPE A prompt file is a map"],
    ["nothing", "", "1:1 WRONG_TYPE A prompt file is a map"],
    ["bad YAML", "template: 'open", "1:11 YAML_SYNTAX"],
    ["an unknown format", "template: x\noutputFormat: jsn", "2:15 VALUE_INVALID"],
    ["parameters that are a text", "template: x\nparameters: hot", "2:13 WRONG_TYPE"],
    [
      "a schema that is none",
      "template: x\noutputSchema:\n  type: object\n  properties:\n    a: {type: strin}",
      "5:15 SCHEMA_INVALID",
    ],
    ["a schema from elsewhere", "template: x\noutputSchema: {$ref: 'http://x/y'}", "2:22 SCHEMA_INVALID"],
  ];
  for (const [name, text, expected] of table) {
    test(name, async () => expect((await problemsOf(text))[0]).toContain(expected));
  }

  const templates: readonly (readonly [string, string, string])[] = [
    [
      "in a block",
      "model: x\ntemplate: |\n  Hello\n\n    {% if a %}\n  {{ b | }}\noutputFormat: text",
      "6:10 PROMPT_INVALID The template cannot be read: syntax error",
    ],
    ["in a block with a sign", "template: |-\n    a\n    {% endfor %}", "3:8 PROMPT_INVALID"],
    ["in quotes", "template: 'Hi {{ name'", "1:18 PROMPT_INVALID"],
    ["in plain text", "template: Hi {{ name", "1:17 PROMPT_INVALID"],
    ["in folded text", "template: >\n  a\n  {{ b", "3:6 PROMPT_INVALID"],
    ["in folded text, behind an empty line", "template: >-\n  a\n\n  b\n  {{ c", "5:6 PROMPT_INVALID"],
    ["in text with a line that YAML escapes, as a whole", 'template: "a \\\n  {{ b"', "1:11 PROMPT_INVALID"],
    ["in JSON", '{"template": "a\\n{{ b"}', "1:14 PROMPT_INVALID The template cannot be read: syntax error"],
    ["a block that is not closed", "template: |\n  a\n  {% if x %}\n  b", "PROMPT_INVALID"],
    ["far too many brackets", `template: "{{ ${"(".repeat(50_000)}1 }}"`, "PROMPT_INVALID"],
    ["a filter that nobody knows", "template: '{{ a | shout }}'", "1:19 PROMPT_INVALID"],
  ];
  for (const [name, text, expected] of templates) {
    test(`a mistake of the template: ${name}`, async () => expect((await problemsOf(text))[0]).toContain(expected));
  }

  test("a person sees the line", async () => {
    const text = "template: |\n  Hello\n  {{ name | }}\n";
    const { problems } = await parsePromptTemplate({ text, file: "prompts/a.yaml" });
    expect(problems.map((problem) => renderProblem(problem, text))).toMatchInlineSnapshot(`
      [
        "prompts/a.yaml:3:13 error PROMPT_INVALID The template cannot be read: syntax error: unexpected end of variable block, expected a name.
        2 |   Hello
        3 |   {{ name | }}
          |             ^^
        remedy: Correct the place shown.",
      ]
    `);
  });

  test("everything at once", async () => {
    expect(await problemsOf("template: '{{ x'\noutputFormat: no\noutputSchema: {type: 5}")).toHaveLength(3);
  });

  test("what is long is no mistake", async () => {
    const template = `{{ ${"-".repeat(500)}1 }}{% if a %}${"{% elif a %}".repeat(600)}{% endif %}`;
    expect((await parsePromptTemplate({ text: JSON.stringify({ template }) })).problems).toEqual([]);
  });

  test("hostile templates are read quickly", async () => {
    const hostile = [
      "{{".repeat(200_000),
      "{%".repeat(200_000),
      "{{ x".repeat(100_000),
      `{{ ${"[".repeat(3_000)} }}`,
      `{{ ${"not ".repeat(900)}x }}`,
      `${"{% if x %}".repeat(50_000)}`,
      "{{ x }}".repeat(100_000),
      "{% for a in b %}".repeat(1_000),
    ];
    for (const template of hostile) await parsePromptTemplate({ text: JSON.stringify({ template }) });
    expect((await parsePromptTemplate({ text: "template: '{{ ok }}'" })).problems).toEqual([]);
  });
});

describe("names that nothing fills", () => {
  const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["Hi {{ nmae }} from {{ city }}", ["name", "city"], ["1:7 nmae"]],
    ["Hi\n{{ a.b }} {{ a }}", [], ["2:4 a"]],
    ["{{ a | default('x') }}{{ b is defined }}{% if c %}{{ c }}{% endif %}{{ d if d }}", [], []],
    ["{% for x in [1] %}{{ x }}{{ loop.index }}{% endfor %}{% set y = 1 %}{{ y }}{{ range(2) }}", [], []],
    ["{% macro m(a) %}{{ a }}{{ z }}{{ caller() }}{% endmacro %}{{ m(1) }}", [], ["1:27 z"]],
    ["{{ a", [], []],
  ];
  for (const [template, given, expected] of table) {
    test(template, async () => {
      const found = await findUnfilledNames(template, given);
      expect(found.map(({ name, fault }) => `${fault.line}:${fault.column} ${name}`)).toEqual(expected);
    });
  }
});
