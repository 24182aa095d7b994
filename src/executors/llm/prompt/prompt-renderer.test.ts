import { describe, expect, test } from "vitest";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { PromptRenderer } from "../../../ports/prompt-renderer.ts";
import { createPromptRenderer } from "./prompt-renderer.ts";

const renderer = createPromptRenderer();
const render = (template: string, input: JsonObject = {}) => renderer.render(template, input);
const strictly = {
  render: (template: string, input: JsonObject) => renderer.render(template, input, { isStrict: true }),
};

/** The error of a template that is refused. */
async function refusal(template: string, input: JsonObject = {}, by: PromptRenderer = renderer) {
  const error: unknown = await by.render(template, input).then(
    (text) => new Error(`It was rendered: ${text.slice(0, 80)}`),
    (thrown: unknown) => thrown,
  );
  if (!isPawlError(error)) throw error;
  return { code: error.code, message: error.message, details: error.details };
}

describe("what templates can do", () => {
  const table: readonly (readonly [string, JsonObject, string])[] = [
    ["Hello {{ name }}!", { name: "Ada" }, "Hello Ada!"],
    [
      "{{ order.customer.city }} {{ order.items[1].sku }}",
      { order: { customer: { city: "Oslo" }, items: [0, { sku: "b" }] } },
      "Oslo b",
    ],
    ["{% if kind == 'a' %}A{% elif kind == 'b' %}B{% else %}C{% endif %}", { kind: "b" }, "B"],
    ["{% for tag in tags %}{{ loop.index }}={{ tag }} {% endfor %}", { tags: ["x", "y"] }, "1=x 2=y "],
    ["{{ missing | default('none given') }} {{ a.b | default('-') }}", { a: {} }, "none given -"],
    [
      "{{ order | tojson }}",
      { order: { id: 1, tags: ["a"], note: null, price: 1.5 } },
      '{"id": 1, "note": null, "price": 1.5, "tags": ["a"]}',
    ],
    [
      "{{ name | upper }} {{ name | lower }} {{ name | title }} {{ name | trim | length }}",
      { name: "ada L" },
      "ADA L ada l Ada L 5",
    ],
    ["{{ tags | join(', ') }} {{ tags | first }} {{ tags | map('upper') | join }}", { tags: ["a", "b"] }, "a, b a AB"],
    ["{% for key, value in order.items() %}{{ key }}:{{ value }};{% endfor %}", { order: { b: 1, a: 2 } }, "b:1;a:2;"],
    ["{% if note is defined %}{{ note | upper }}{% endif %}ok", {}, "ok"],
    ["{# a comment #}{% raw %}{{ kept }}{% endraw %}", {}, "{{ kept }}"],
    ["{{ flag }} {{ nothing }} {{ amount }}", { flag: true, nothing: null, amount: 2.5 }, "True None 2.5"],
    [
      "{% for item in order.items %}{{ item }}{% endfor %}{{ order.items | length }}",
      { order: { items: [1, 2] } },
      "122",
    ],
    ["<{{ nmae }}{% if nmae %}x{% endif %}{% for x in nmae %}x{% endfor %}>", { name: "Ada" }, "<>"],
    ["<b>{{ html }}</b>", { html: "<i>&" }, "<b><i>&</b>"],
  ];
  for (const [template, input, expected] of table) {
    test(template, async () => expect(await render(template, input)).toBe(expected));
  }
});

describe("what is wrong is named with its place", () => {
  const table: readonly (readonly [string, JsonObject, string, JsonObject])[] = [
    [
      "Hello\n  {{ nmae }}!",
      { name: "Ada", city: "Oslo" },
      "at line 2, column 6: `nmae` has no value; the input has `name`, `city`.",
      { line: 2, column: 6, variable: "nmae", available: ["name", "city"] },
    ],
    [
      "{{ order.customer.nmae }}",
      { order: { customer: { name: "Ada" } } },
      "`order.customer.nmae` has no value; `order.customer` has `name`.",
      { line: 1, column: 4, variable: "order.customer.nmae", available: ["name"] },
    ],
    [
      "{{ order.customer.name }}",
      { order: {} },
      "`order.customer` has no value; `order` has nothing.",
      { line: 1, column: 4, variable: "order.customer", available: [] },
    ],
    [
      "{{ tags[5] }}",
      { tags: ["a"] },
      "`tags[5]` has no value",
      { line: 1, column: 4, variable: "tags[5]", available: [] },
    ],
    ["{% if nope %}x{% endif %}", {}, "`nope` has no value", { line: 1, column: 7, variable: "nope", available: [] }],
    [
      "{% for x in nope %}x{% endfor %}",
      {},
      "`nope` has no value",
      { line: 1, column: 13, variable: "nope", available: [] },
    ],
    [
      "a\n{{ order | tojson }}",
      { ordr: 1 },
      "at line 2, column 4: `order` has no value",
      { line: 2, column: 4, variable: "order", available: ["ordr"] },
    ],
    ["{{ a.b | upper }}", { a: {} }, "`a.b` has no value", { line: 1, column: 4, variable: "a.b", available: [] }],
    [
      "{% for o in os %}{{ o.nme | trim }}{% endfor %}",
      { os: [{ name: 1 }] },
      "`o.nme` has no value; `o` has `name`.",
      { line: 1, column: 21, variable: "o.nme", available: ["name"] },
    ],
    ["{{ 'äö' ~ name", {}, "at line 1, column 11: syntax error", { line: 1, column: 11 }],
    ["{% if a %}\nfoo", { a: 1 }, "expected end of block", { line: 1 }],
    ["{{ name | shout }}", { name: "x" }, "filter shout is unknown", { line: 1, column: 11 }],
    ["{% include '/etc/passwd' %}", {}, "other templates cannot be included", { line: 1, column: 4 }],
    ["{% import 'x' as y %}", {}, "other templates cannot be included", { line: 1, column: 4 }],
  ];
  for (const [template, input, message, details] of table) {
    test(template, async () => {
      expect(await refusal(template, input, strictly)).toMatchObject({
        code: "PROMPT_INVALID",
        message: expect.stringContaining(message),
        details,
      });
    });
  }

  test("values are not repeated in the error", async () => {
    expect(JSON.stringify(await refusal("{{ secret.x.y }}", { secret: { value: "hunter2" } }))).not.toContain(
      "hunter2",
    );
  });
});

describe("hostile templates and values", () => {
  test("what is put in is never expanded again", async () => {
    const value = "{{ secret }}{% for i in range(9) %}{{ i }}{% endfor %}{# gone #}";
    expect(await render("<{{ value }}>{{ [value] | first }}", { value, secret: "hunter2" })).toBe(`<${value}>${value}`);
  });

  const escapes = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ x.constructor }}",
    "{{ x.constructor.constructor('return process')() }}",
    "{{ x.__proto__ }}",
    "{{ x['__proto__'] }}",
    "{{ x.toString }}",
    "{{ self._TemplateReference__context }}",
    "{{ config }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ x | attr('__class__') }}",
    "{{ process.env }}",
  ];
  for (const template of escapes) {
    test(`${template} leads nowhere`, async () => {
      expect(await refusal(template, { x: {} }, strictly)).toMatchObject({ code: "PROMPT_INVALID" });
    });
  }

  test("a loop over too much ends", async () => {
    const loops = "{% for i in range(90000) %}{% for j in range(90000) %}x{% endfor %}{% endfor %}";
    expect(await refusal(loops)).toMatchObject({ message: expect.stringContaining("look for a loop") });
    expect(await refusal("{% for i in range(10000000000) %}x{% endfor %}")).toMatchObject({ details: { line: 1 } });
    expect(await refusal("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}")).toMatchObject({ details: { line: 1 } });
  });

  test("work on large texts counts", async () => {
    const slow = "{% for i in range(20000) %}{% set y = big | replace('a', 'b') %}{% endfor %}";
    const input = { big: "a".repeat(1_000_000) };
    expect(await refusal(slow, input)).toMatchObject({ message: expect.stringContaining("more than a prompt may") });
  });

  const exhausting = [
    "{% set ns = namespace(x='a' * 1000) %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
    "{{ ('a' * 4000000000) | length }}",
    `{{ ${"not ".repeat(50_000)}x }}`,
    `{{ 1${" + 1".repeat(100_000)} }}`,
    "{{ [1] * 10 ** 9 }}",
    "{{ range(10 ** 9) | list }}",
    "{{ 2 ** (10 ** 9) }}",
    "{{ '%1000000000d' % 5 }}",
    "{{ '%.1000000000f' % 5 }}",
    "{{ '{:1000000000}'.format(5) }}",
    "{{ 'a' | center(10 ** 9) }}",
    "{{ 'a'.ljust(10 ** 9) }}",
    "{{ [1] | batch(10 ** 9, 0) | list }}",
    "{{ [1] | slice(10 ** 9) | list }}",
    "{{ [1] | tojson(indent=10 ** 9) }}",
    "{{ lipsum(10 ** 9) }}",
    "{{ big.replace('', big) }}",
    "{{ big.join(big) }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(50) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x=3) %}{% for i in range(90) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x }}",
    "{% set l = [1] %}{% for i in l %}{{ l.append(i) }}{% endfor %}",
    "{% for i in range(10 ** 6) %}{% set x = big | title %}{% endfor %}",
    // Searches, patterns and stripping that take time with the product of two texts.
    "{% for i in range(10 ** 6) %}{% set x = ('a' * 5000 ~ 'b' ~ 'a' * 5000) in big %}{% endfor %}",
    "{% for i in range(10 ** 6) %}{% set x = big.rfind('b' ~ 'a' * 30) %}{% endfor %}",
    "{% for i in range(10 ** 6) %}{% set x = big | trim('b' * 90000 ~ 'a') %}{% endfor %}",
    "{{ ('%(' * 400000) | format(1) }}",
    "{{ ('{a' * 400000).format() }}",
    "{{ ('1' * 400000 ~ 'x') | float + nothing }}",
    "{{ (('((((((((((' * 100 ~ 'a))))))))))') * 5000) | urlize }}",
    "{{ ('a-' * 2000000) | wordwrap(20) }}",
  ];
  for (const template of exhausting) {
    test(`${template.slice(0, 100)} is refused soon`, async () => {
      const start = process.cpuUsage();
      expect(await refusal(template, { x: 1, big: "a".repeat(100_000) })).toMatchObject({ code: "PROMPT_INVALID" });
      // A tenth of that on a machine that does nothing else.
      expect(process.cpuUsage(start).user).toBeLessThan(1_500_000);
    });
  }

  test("a list that holds itself is shown once", async () => {
    expect(await render("{% set l = [1] %}{% set _ = l.append(l) %}{{ l }}")).toBe("[1, [...]]");
  });

  test("the input of a run is not changed by a template", async () => {
    const input = { tags: ["a"], order: { id: 1 } };
    await render("{% set _ = tags.append('b') %}{% set _ = order.update(id=2) %}", input);
    expect(input).toEqual({ tags: ["a"], order: { id: 1 } });
  });

  test("values of a megabyte are put in", async () => {
    const big = "é{{".repeat(400_000);
    expect(await render("{{ big }}|{{ big | length }}", { big })).toBe(`${big}|1200000`);
  });

  test("a prompt that is too long is refused", async () => {
    const small = createPromptRenderer({ maxLength: 1_000 });
    expect(await refusal("{{ 'a' * 2000 }}", {}, small)).toMatchObject({
      message: expect.stringContaining("1000 characters"),
    });
  });

  test("names of objects are data", async () => {
    const input = JSON.parse('{"__proto__": {"polluted": 1}, "x": {"constructor": "c"}}') as JsonObject;
    expect(await render("{{ x.constructor }}", input)).toBe("c");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
