import { attacks } from "./attacks.ts";
import type { Violation } from "./canaries.ts";
import { crashed, inParallel, type Result } from "./parts.ts";
import type { World } from "./world.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Operation extends Described {
  readonly method: string;
  readonly path: string;
}

/** A copy of all data for each request would fill the disk, and a stream has no end. */
const LEFT_OUT = /backup|stream|events/;
const METHODS = ["get", "post", "put", "patch", "delete"];
/** So often a request is what the description of the service says, but for a value here and there. */
const MEANT = 0.75;
const ODD_VALUE = 0.12;

/**
 * Requests from a seed: most are almost what the service's own description asks for, about things that are there, and the
 * others are what no client means. Anything but an answer below 500 is a violation.
 */
export async function fuzz(
  world: World,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Result> {
  const random = generator(seed);
  const { text } = await world.send("/openapi.json", {});
  const api = JSON.parse(text) as OpenApi;
  const operations = operationsOf(api);
  const words = [...WORDS, ...(await wordsOf(world, operations))];
  const texts = attacks(world.canaries).map((attack) => attack.text);
  const values = new Values({ random, words, texts, schemas: api.components?.schemas ?? {} });
  const violations: Violation[] = [];
  const statuses = new Map<number, number>();
  await inParallel([...Array(count).keys()], async (number) => {
    const request = random() < MEANT ? values.meant(values.pick(operations)) : values.random(Object.keys(api.paths));
    if (LEFT_OUT.test(request.path)) return;
    const { method, path, body } = request;
    const { status } = await world.send(path, {
      method,
      headers: values.headers(world.keys),
      signal: AbortSignal.timeout(20_000),
      ...(body === undefined || method === "GET" || method === "HEAD" ? {} : { body }),
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 0 || status >= 500)
      violations.push({
        kind: "error",
        detail: `request ${number} of seed ${seed}: ${method} ${path.slice(0, 120)} ${body?.slice(0, 300)}: ${status}`,
      });
  });
  const told = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
  return {
    told: `${count} requests of seed ${seed}: ${told.join(", ")}`,
    violations: [...violations, ...crashed(world)],
  };
}

function operationsOf({ paths }: OpenApi): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = item[method];
      return described === undefined || LEFT_OUT.test(path)
        ? []
        : [{ ...described, path, method: method.toUpperCase() }];
    }),
  );
}

/** Ids and names that the service tells of, after some things were made. Keys are none of them: without keys nothing is reached. */
async function wordsOf(world: World, operations: readonly Operation[]): Promise<readonly string[]> {
  for (const workflow of ["hello", "hello", "keyed"])
    await world.ask("admin", "POST", "/workflows/run", { workflow_name: workflow, input: { text: "x" } });
  const found = new Set<string>(["hello", "keyed", "hostile"]);
  for (const { method, path } of operations) {
    if (method !== "GET" || path.includes("{") || path.startsWith("/keys")) continue;
    const { text } = await world.ask("admin", "GET", path);
    for (const [, word] of text.matchAll(/"(?:\w+_id|id|name|workflow|cursor|next_cursor)": ?"([^"\\]{1,80})"/g)) {
      if (word !== undefined && found.size < 200) found.add(word);
    }
  }
  return [...found];
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Draws what is sent. */
class Values {
  readonly #random: Random;
  readonly #words: readonly string[];
  readonly #texts: readonly string[];
  readonly #schemas: Readonly<Record<string, Schema>>;

  constructor(parts: {
    readonly random: Random;
    readonly words: readonly string[];
    readonly texts: readonly string[];
    readonly schemas: Readonly<Record<string, Schema>>;
  }) {
    this.#random = parts.random;
    this.#words = parts.words;
    this.#texts = parts.texts;
    this.#schemas = parts.schemas;
  }

  pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }

  meant({ method, path, parameters = [], requestBody }: Operation): Request {
    const filled = path.replace(/\{[^}]*\}/g, () => encodeURIComponent(this.pick(this.#words)));
    const query = parameters
      .filter(({ in: where }) => where === "query" && this.#random() < 0.4)
      .map(({ name, schema = {} }) => `${encodeURIComponent(name)}=${encodeURIComponent(String(this.#of(schema, 1)))}`);
    const schema = requestBody?.content["application/json"]?.schema;
    const body = schema === undefined ? undefined : JSON.stringify(this.#of(schema, 6));
    return { method, path: query.length === 0 ? filled : `${filled}?${query.join("&")}`, body };
  }

  random(paths: readonly string[]): Request {
    const path = mangle(
      this.pick([...paths, "/execute", "/mcp", "/queues/q/messages", "/hello", "/nothing"]),
      this.#random,
    );
    const method = this.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
    return { method, path, body: this.pick(BODIES)(this.#random) };
  }

  headers(keys: readonly string[]): Record<string, string> {
    const types = ["application/json", "application/json", "application/json", "application/json", "text/plain", ""];
    const often = (probability: number, name: string, values: readonly string[]) =>
      this.#random() < probability ? { [name]: this.pick(values) } : {};
    return {
      "content-type": this.pick(types),
      // Who may do all gets furthest.
      ...often(0.97, "x-api-key", this.#random() < 0.5 ? keys.slice(0, 1) : keys),
      ...often(0.1, "idempotency-key", ["k", "k".repeat(300), "\u00ff"]),
      ...often(0.05, "last-event-id", ["0", "-1", "x", "9".repeat(40)]),
      ...often(0.05, "traceparent", ["00-0-0-00", "x".repeat(1_000)]),
    };
  }

  #of(schema: Schema, depth: number): unknown {
    if (depth === 0 || this.#random() < ODD_VALUE) return junk(this.#random, 2);
    const { $ref, anyOf, oneOf, allOf, type, properties } = schema;
    const target = $ref === undefined ? undefined : this.#schemas[$ref.split("/").at(-1) ?? ""];
    if (target !== undefined) return this.#of(target, depth);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return this.pick(schema.enum);
    const choices = anyOf ?? oneOf ?? allOf;
    if (choices !== undefined) return this.#of(this.pick(choices), depth);
    switch (Array.isArray(type) ? this.pick(type) : type) {
      case "object":
        return properties === undefined
          ? junk(this.#random, 3)
          : this.#object(properties, schema.required ?? [], depth);
      case "array":
        return Array.from({ length: Math.floor(this.#random() * 4) }, () => this.#of(schema.items ?? {}, depth - 1));
      case "integer":
        return this.pick([0, 1, 2, 5, 100, -1, 1_000_000, 2 ** 53, 10 ** 20]);
      case "number":
        return this.pick([0, 0.5, 1, -1, 1e-9, 1e300]);
      case "boolean":
        return this.#random() < 0.5;
      case "null":
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object(properties: Readonly<Record<string, Schema>>, required: readonly string[], depth: number): object {
    const names = Object.keys(properties).filter((name) => this.#random() < (required.includes(name) ? 0.95 : 0.35));
    return Object.fromEntries(names.map((name) => [name, this.#of(properties[name] ?? {}, depth - 1)]));
  }

  #text({ format = "" }: Schema): string {
    if (format === "date-time") return this.pick(["2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01", "now"]);
    if (this.#random() < 0.5) return this.pick(this.#words);
    return this.pick(["* * * * *", "61 * * * *", "Europe/Berlin", "https://example.com/x", ...this.#cutTexts()]);
  }

  /** A definition, often with a piece cut out. */
  #cutTexts(): readonly string[] {
    return Array.from({ length: 6 }, () => {
      const text = this.pick(this.#texts);
      const from = Math.floor(this.#random() * text.length);
      return this.#random() < 0.5 ? text : text.slice(0, from) + text.slice(from + Math.floor(this.#random() * 20));
    });
  }
}

type Random = () => number;

/** Mulberry32: the same numbers for the same seed, everywhere. */
export function generator(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WORDS = [
  "",
  "x",
  "..",
  "%2e%2e%2f",
  "%00",
  "%ff",
  "__proto__",
  "constructor",
  "9".repeat(30),
  "a".repeat(3_000),
  "😀",
  "-1",
  "null",
  "{}",
  "*",
];

function mangle(pattern: string, random: Random): string {
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? "";
  const filled = pattern.replace(/\{[^}]*\}/g, () => encodeURI(word()).replace(/[?#]/g, ""));
  if (random() < 0.6) return filled;
  const names = ["limit", "cursor", "status", "offset", "page", "from", "tenant_id", "run_id", "format", word() || "q"];
  const query = names
    .filter(() => random() < 0.3)
    .map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(word())}`);
  return `${filled}?${query.join("&")}`;
}

const BODIES: readonly ((random: Random) => string)[] = [
  () => "",
  () => "{}",
  () => "[]",
  () => "null",
  () => '"text"',
  () => "{",
  () => '{"__proto__": {"x": 1}}',
  () => `${"[".repeat(2_000)}${"]".repeat(2_000)}`,
  () => `{"workflow": ${JSON.stringify("a".repeat(20_000))}}`,
  () => '{"workflow": "name: x\\nsteps: &a [*a]"}',
  () => '{"workflow": "{\\"name\\": 1e999}", "input": {"a": 123456789012345678901234567890}}',
  () => '{"workflow_name": "hello", "input": {"toString": null, "hasOwnProperty": 1}}',
  () => '{"workflow_name": "hello", "max_cost_usd": -0.0}',
  () => '{"workflow_name": "\\u0000", "input": {"\\ud800": "\\udfff"}}',
  (random) => JSON.stringify(junk(random, 4)),
  (random) => JSON.stringify({ workflow_name: "hello", input: junk(random, 3) }),
  (random) => JSON.stringify({ workflow: JSON.stringify(junk(random, 4)) }),
  (random) =>
    JSON.stringify({
      name: junk(random, 1),
      steps: junk(random, 3),
      text: JSON.stringify({ name: "x", steps: junk(random, 3) }),
    }),
];

const NAMES = [
  "name",
  "steps",
  "id",
  "prompt",
  "input",
  "workflow",
  "__proto__",
  "limits",
  "type",
  "states",
  "agents",
  "",
  "a.b",
  "$ref",
];

function junk(random: Random, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 8 : 6));
  if (kind === 0) return null;
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return Math.round((random() - 0.5) * 10 ** Math.floor(random() * 20));
  if (kind < 6) return WORDS[Math.floor(random() * WORDS.length)];
  const count = Math.floor(random() * 5);
  if (kind === 6) return Array.from({ length: count }, () => junk(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: count }, () => [NAMES[Math.floor(random() * NAMES.length)] ?? "x", junk(random, depth - 1)]),
  );
}
