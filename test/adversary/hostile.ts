import { setTimeout as wait } from "node:timers/promises";
import { slack, watchHealth } from "../support/watch-health.ts";
import type { Violation } from "./canaries.ts";
import { inParallel, type Result } from "./parts.ts";
import type { World } from "./world.ts";

interface Hostile {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** The answer, where only one is right: a pattern that takes too long would be refused in another way. */
  readonly expects?: RegExp;
}

/** Patterns that a matcher that goes back never ends with. */
const PATTERNS: readonly (readonly [string, string])[] = [
  ["^(a+)+$", "a"],
  ["^(a|aa)+$", "a"],
  ["^(a|a)*$", "a"],
  ["^([a-zA-Z]+)*$", "a"],
  ["^(.*a){20}$", "a"],
  ["^(\\w+\\s?)*$", "a"],
  ["^([a-zA-Z0-9._-]+)+@([a-z0-9-]+\\.)+[a-z]{2,}$", "a"],
  ["^(?:(?:a*)*)*b$", "a"],
  ["(x+x+)+y", "x"],
  ["^(\\d+)*\\.(\\d+)*$", "1"],
  ["^((a+)(b+)?)+$", "a"],
  ["\\s+$", " "],
];

const LONG = 40;
const MANY = 4;
const LIMIT_MS = 2_000;

const json = (value: unknown) => JSON.stringify(value);

function started(workflow: object, input: unknown): Pick<Hostile, "path" | "body"> {
  return { path: "/workflows/run/sync", body: json({ workflow: json(workflow), input }) };
}

function withInput(schema: object): object {
  return { name: "h", input_schema: { type: "object", ...schema }, steps: [{ id: "a", type: "llm", prompt: "hi" }] };
}

function everyPlace(): readonly Hostile[] {
  const patterns = PATTERNS.flatMap(([pattern, letter], index): readonly Hostile[] => {
    const text = `${letter.repeat(LONG)}!`;
    const schema = { properties: { v: { type: "string", pattern } } };
    const evil = { properties: { v: { type: "array", items: { type: "string", pattern } } } };
    return [
      { name: `input-pattern-${index}`, ...started(withInput(schema), { v: text }), expects: /INPUT_INVALID/ },
      {
        name: `input-items-${index}`,
        ...started(withInput(evil), { v: Array(50).fill(text) }),
        expects: /INPUT_INVALID/,
      },
      {
        name: `input-names-${index}`,
        ...started(withInput({ patternProperties: { [pattern]: { type: "number" } } }), { [text]: "x" }),
      },
      {
        name: `output-pattern-${index}`,
        ...started(
          {
            name: "h",
            steps: [
              {
                id: "a",
                type: "llm",
                prompt: text,
                output_schema: { type: "array", items: { type: "string", pattern } },
              },
            ],
          },
          {},
        ),
      },
      {
        name: `uhlp-input-${index}`,
        ...started(
          {
            workflowId: "h",
            trigger: {
              type: "http",
              config: { pathPattern: "/h", method: "POST", inputSchema: { type: "object", ...schema } },
            },
            startAt: "a",
            steps: { a: { type: "control", subtype: "formatResponse", resultType: "generic", data: {} } },
          },
          { v: text },
        ),
      },
      {
        name: `policy-${index}`,
        ...started(
          {
            name: "h",
            policies: [{ id: "p", action: "redact", patterns: [{ regex: pattern }] }],
            steps: [{ id: "a", prompt: text.repeat(100) }],
          },
          {},
        ),
      },
      {
        name: `validate-${index}`,
        path: "/workflows/validate",
        body: json({ text: json(withInput(schema)) }),
      },
    ];
  });
  return [...patterns, ...SHAPES, ...TEXTS];
}

/** Schemas that are small and mean much, and values that cost much to look at. */
const SHAPES: readonly Hostile[] = [
  {
    name: "unique",
    ...started(withInput({ properties: { v: { uniqueItems: true } } }), {
      v: Array.from({ length: 20_000 }, (_, i) => ({ i, a: [i] })),
    }),
  },
  { name: "laughs", ...started(withInput({ $ref: "#/$defs/d0", $defs: doubling("allOf") }), { v: 1 }) },
  { name: "laughs-any", ...started(withInput({ $ref: "#/$defs/d0", $defs: doubling("anyOf") }), { v: 1 }) },
  { name: "laughs-one", ...started(withInput({ $ref: "#/$defs/d0", $defs: doubling("oneOf") }), { v: 1 }) },
  { name: "circle", ...started(withInput({ allOf: [{ $ref: "#" }] }), { v: 1 }) },
  {
    name: "circle-of-two",
    ...started(withInput({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }), {
      v: 1,
    }),
  },
  { name: "deep", ...started(withInput({ properties: { v: nested(2_000) } }), { v: 1 }) },
  {
    name: "deep-value",
    ...started(
      withInput({ $defs: { t: { properties: { v: { $ref: "#/$defs/t" } } } }, $ref: "#/$defs/t" }),
      nestedValue(90),
    ),
  },
  {
    name: "wide",
    ...started(
      withInput({
        properties: Object.fromEntries(
          Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: "string", minLength: 1 }]),
        ),
      }),
      { v: 1 },
    ),
  },
  {
    name: "enum",
    ...started(withInput({ properties: { v: { enum: Array.from({ length: 20_000 }, (_, i) => ({ i })) } } }), {
      v: Array(1_000).fill({ i: -1 }),
    }),
  },
  {
    name: "enum-items",
    ...started(
      withInput({ properties: { v: { items: { enum: Array.from({ length: 2_000 }, (_, i) => ({ i })) } } } }),
      { v: Array(2_000).fill({ i: -1 }) },
    ),
  },
  {
    name: "repetition",
    ...started(withInput({ properties: { v: { type: "string", pattern: "^((a{0,99}){0,99}){0,99}$" } } }), {
      v: "a".repeat(1_000),
    }),
  },
  {
    name: "dynamic",
    ...started(
      withInput({ $schema: "https://json-schema.org/draft/2020-12/schema", $dynamicRef: "#x", $dynamicAnchor: "x" }),
      { v: 1 },
    ),
  },
  {
    name: "unevaluated",
    ...started(
      withInput({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        anyOf: Array(500).fill({ properties: { v: true } }),
        unevaluatedProperties: false,
      }),
      { v: 1 },
    ),
  },
  {
    name: "format",
    ...started(withInput({ properties: { v: { type: "string", format: "email" } } }), { v: `${"a.".repeat(50_000)}@` }),
  },
  {
    name: "format-uri",
    ...started(withInput({ properties: { v: { type: "string", format: "uri" } } }), {
      v: `http://${"a".repeat(100_000)}`,
    }),
  },
  { name: "multiple", ...started(withInput({ properties: { v: { multipleOf: 1e-300 } } }), { v: 1e300 }) },
];

/** Texts that cost much to read. */
const TEXTS: readonly Hostile[] = [
  text(
    "aliases",
    `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghij"
      .split("")
      .map((n, i) => `${n}: &${n} [${Array(9).fill(`*${"abcdefghij"[i]}`).join(",")}]`)
      .join("\n")}\nname: x\nsteps: *j\n`,
  ),
  text("flow-depth", `name: x\nsteps: ${"[".repeat(20_000)}${"]".repeat(20_000)}`),
  text(
    "block-depth",
    `name: x\nsteps:\n${Array.from({ length: 3_000 }, (_, i) => `${" ".repeat(i + 1)}- a:`).join("\n")}`,
  ),
  text("keys", `name: x\nsteps: []\n${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join("\n")}`),
  text(
    "steps",
    json({
      name: "x",
      steps: Array.from({ length: 5_000 }, (_, i) => ({ id: `s${i}`, prompt: `{steps.s${(i * 7) % 5_000}.output}` })),
    }),
  ),
  text(
    "circle",
    json({
      name: "x",
      steps: Array.from({ length: 2_000 }, (_, i) => ({
        id: `s${i}`,
        prompt: "x",
        depends_on: [`s${(i + 1) % 2_000}`],
      })),
    }),
  ),
  text(
    "all-on-all",
    json({
      name: "x",
      steps: Array.from({ length: 400 }, (_, i) => ({
        id: `s${i}`,
        prompt: "x",
        depends_on: Array.from({ length: i }, (__, k) => `s${k}`),
      })),
    }),
  ),
  text(
    "states",
    json({
      name: "x",
      initial_state: "s0",
      states: Object.fromEntries(
        Array.from({ length: 3_000 }, (_, i) => [
          `s${i}`,
          {
            action: { tool: "list_terminal_sessions", params: {} },
            transitions: Array.from({ length: 20 }, () => ({
              condition: { pattern_match: "(a+)+$" },
              next_state: `s${(i + 1) % 3_000}`,
            })),
          },
        ]),
      ),
    }),
  ),
  text("numbers", `name: x\nsteps: [${"9".repeat(100_000)}]`),
  text("quotes", `name: "${"\\u0041".repeat(100_000)}"\nsteps: []`),
  text("jinja-loop", uhlpPrompt("{% for i in range(1000000000) %}x{% endfor %}")),
  text("jinja-nested", uhlpPrompt(`${"{% for i in range(99999) %}".repeat(5)}x${"{% endfor %}".repeat(5)}`)),
  text(
    "jinja-grow",
    uhlpPrompt(
      "{% set ns = namespace(s='aaaaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s | length }}",
    ),
  ),
  text("jinja-repeat", uhlpPrompt("{{ 'a' * 1000000000 }}")),
  text("jinja-center", uhlpPrompt("{{ 'a' | center(1000000000) }}")),
  text("jinja-power", uhlpPrompt("{{ 9 ** 9 ** 9 ** 9 }}")),
  text("jinja-format", uhlpPrompt("{{ '%1000000000d' | format(1) }}")),
  text("jinja-depth", uhlpPrompt(`{{ ${"(".repeat(5_000)}1${")".repeat(5_000)} }}`)),
  text("expression-depth", uhlpExpression(`${"(".repeat(5_000)}1${")".repeat(5_000)}`)),
  text("expression-length", uhlpExpression(Array(20_000).fill("1").join(" + "))),
  {
    name: "value-depth",
    path: "/workflows/run",
    body: `{"workflow_name": "hello", "input": ${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}`,
  },
  {
    name: "value-keys",
    path: "/workflows/run",
    body: json({
      workflow_name: "hello",
      input: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i])),
    }),
  },
  {
    name: "value-digits",
    path: "/workflows/run",
    body: `{"workflow_name": "hello", "input": {"a": [${Array(30_000).fill("12345678901234567890").join(",")}]}}`,
  },
];

function text(name: string, definition: string): Hostile {
  return { name, path: "/workflows/run/sync", body: json({ workflow: definition, input: {} }) };
}

function uhlpExpression(x: string): string {
  const a = { type: "control", subtype: "formatResponse", resultType: "generic", data: { x } };
  return json({ workflowId: "x", startAt: "a", steps: { a } });
}

function uhlpPrompt(prompt: string): string {
  return json({
    workflowId: "x",
    startAt: "a",
    steps: {
      a: { type: "llm", target: { prompt }, transitions: { onSuccess: "b" } },
      b: { type: "control", subtype: "formatResponse", resultType: "generic", data: {} },
    },
  });
}

function doubling(word: string): object {
  const rows = Array.from({ length: 40 }, (_, i) => [
    `d${i}`,
    i === 39 ? {} : { [word]: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
  ]);
  return Object.fromEntries(rows);
}

function nested(depth: number): object {
  let schema: object = {};
  for (let i = 0; i < depth; i += 1) schema = { properties: { v: schema } };
  return schema;
}

function nestedValue(depth: number): object {
  let value: object = {};
  for (let i = 0; i < depth; i += 1) value = { v: value };
  return value;
}

/** Every hostile text at its place, `times` over, while somebody asks all the time whether the server lives. */
export async function sendHostile(world: World, { every = 1, times = 1 } = {}): Promise<Result> {
  const some = everyPlace().filter((_, index) => index % every === 0);
  const all = Array.from({ length: times }, () => some).flat();
  const violations: Violation[] = [];
  const health = await watchHealth(() => world.send("/healthz", { signal: AbortSignal.timeout(10_000) }));
  await inParallel(
    all,
    async ({ name, path, body, expects }) => {
      // A server that hangs is known by its first requests.
      if (violations.length >= MANY) return;
      const began = performance.now();
      const { status, text: answer } = await world.ask("tenant", "POST", path, body);
      const took = performance.now() - began;
      if (status === 0 || status >= 500)
        violations.push({ kind: "error", detail: `${name}: ${status} ${answer.slice(0, 200)}` });
      if (took > LIMIT_MS * slack()) violations.push({ kind: "slow", detail: `${name}: ${Math.round(took)} ms` });
      if (expects !== undefined && !expects.test(answer))
        violations.push({ kind: "slow", detail: `${name}: ${status} ${answer.slice(0, 200)}` });
    },
    2,
  );
  const { p99, max, count } = health.take();
  await health.end();
  if (!world.isAlive) violations.push({ kind: "crash", detail: world.said.slice(-2_000) });
  if (p99 > health.limitMs()) violations.push({ kind: "slow", detail: `/healthz took ${p99} ms at p99` });
  await world.kill();
  await world.start();
  const ended = world.kill("SIGTERM");
  const code = await Promise.race([ended, wait(15_000, "hung" as const)]);
  if (code !== 0) violations.push({ kind: "crash", detail: `after a restart SIGTERM was answered with ${code}` });
  return {
    told: `${all.length} hostile texts; /healthz ${count} times: p99 ${p99} ms, at most ${max} ms (idle p99 ${health.idleMs} ms)`,
    violations,
  };
}
