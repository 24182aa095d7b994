import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { ERRORS } from "../../../core/errors/error-table.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Problem } from "../../../core/errors/problem.ts";
import type { Json } from "../../../core/json.ts";

/**
 * The script of simulated agents and mock models: what each step is answered. The format is described in
 * docs/simulated-agents.md.
 */
export type AgentScript = z.infer<typeof SCRIPT>;

/** One try of a step. An entry without `reply`, `call`, `fail` and `hang` gives a plain answer. */
export type ScriptedTurn = z.infer<typeof TURN>;

export type ParsedScript =
  | { readonly ok: true; readonly script: AgentScript }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MAX_ALIASES = 100;
const ACTS = ["reply", "call", "fail", "hang"] as const;

const json = z.custom<Json>();
const amount = z
  .number({ error: ({ path }) => `\`${String(path?.at(-1))}\` is a number, 0 or more.` })
  .min(0, { error: ({ path }) => `\`${String(path?.at(-1))}\` is a number, 0 or more.` });

const CALL = map(
  {
    name: z.string("A call is a map such as `{name: forecast, input: {city: Paris}}`."),
    input: z.record(z.string(), json, "`input` is a map of arguments.").default({}),
  },
  "A call is a map such as `{name: forecast, input: {city: Paris}}`.",
);

const TURN = map(
  {
    /** A text is what the agent says; anything else is its structured answer. */
    reply: json.optional(),
    /** Tools that are called, with or without a word (`say`). Only a model can do that. */
    call: oneOrMore(CALL).optional(),
    say: z.string("`say` is a text.").optional(),
    fail: z
      .string("`fail` is an error code such as AGENT_FAILED.")
      .regex(/^[A-Z][A-Z0-9_]*$/, "`fail` is an error code such as AGENT_FAILED.")
      .optional(),
    message: z.string("`message` is a text.").optional(),
    retryable: z.boolean("`retryable` is true or false.").optional(),
    effect: z.enum(["none", "unknown", "done"], "`effect` is none, unknown or done.").optional(),
    /** Silence until the attempt is stopped. */
    hang: json.optional(),
    delay_ms: amount.optional(),
    /** `null`: unknown. */
    cost_usd: amount.nullable().optional(),
    turns: amount.optional(),
    input_tokens: amount.optional(),
    output_tokens: amount.optional(),
  },
  'An entry is a map, for example `{reply: "text"}`.',
).superRefine((turn, context) => {
  const named = ACTS.filter((act) => turn[act] !== undefined).map((act) => `\`${act}\``);
  if (named.length > 1) context.addIssue(`Only one of ${named.join(", ")} can happen.`);
});

const TURNS = oneOrMore(TURN, "An empty list says nothing; leave the step out.");

const ITEMS = map(
  { items: z.array(TURNS, "`items` is a list: one entry for each item of the fan-out.") },
  "A fan-out is a map with the key `items`.",
);

/** By attempt, of which the last repeats; or, for a fan-out, by index and then by attempt. */
const STEP = choose<ScriptedStep>((value) =>
  hasItems(value)
    ? ITEMS.transform(({ items }) => ({ attempts: [], items }))
    : TURNS.transform((attempts) => ({ attempts, items: [] })),
);

interface ScriptedStep {
  readonly attempts: readonly ScriptedTurn[];
  readonly items: readonly (readonly ScriptedTurn[])[];
}

const SCRIPT = map(
  {
    /** For every answer that names none. */
    delay_ms: amount.optional(),
    /** By step id (`score`), one instance (`score[3]`, `poll#2`) or whole path (`batch[2]/fetch[7]`). */
    steps: z.record(z.string(), STEP, "`steps` is a map from step ids to what happens.").default({}),
  },
  "A script is a map with the key `steps`.",
);

/** Reads a script of simulated answers. Reports every problem (`SCRIPT_INVALID`) with its place, and never throws. */
export function parseAgentScript(text: string, file?: string): ParsedScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const toProblem = (message: string, offset: number): Problem => {
    const { line, col } = lines.linePos(offset);
    const place = { line: Math.max(1, line), column: Math.max(1, col), ...(file !== undefined && { file }) };
    return { code: "SCRIPT_INVALID", severity: "error", message, remedy: ERRORS.SCRIPT_INVALID.remedy, place };
  };
  const refuse = (problems: readonly Problem[]): ParsedScript => ({ ok: false, problems });

  if (document.errors.length > 0)
    return refuse(document.errors.map(({ message, pos }) => toProblem(message.split("\n", 1)[0] ?? "", pos[0])));
  const content = toContent(document);
  if (content === undefined) return refuse([toProblem("Aliases expand to too much.", 0)]);
  const parsed = SCRIPT.safeParse(content ?? {});
  if (parsed.success) return { ok: true, script: parsed.data };
  const flaws = parsed.error.issues.flatMap(toFlaws);
  return refuse(flaws.map(({ path, message }) => toProblem(message, offsetOf(document, path))));
}

/** Reads a script or throws `SCRIPT_INVALID`, with every problem and its place. */
export function readAgentScript(text: string, file: string): AgentScript {
  const parsed = parseAgentScript(text, file);
  if (parsed.ok) return parsed.script;
  const lines = parsed.problems.map(({ place, message }) => {
    return place === undefined ? message : `${file}:${place.line}:${place.column} ${message}`;
  });
  throw new PawlError("SCRIPT_INVALID", { message: lines.join("\n"), details: lines });
}

/** A map of known keys. The issue of an unknown key carries the list of those that are known. */
function map<Shape extends z.core.$ZodShape>(shape: Shape, expected: string) {
  const known = `Known: ${Object.keys(shape).join(", ")}.`;
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? known : expected) });
}

/** One value, or a list of them. */
function oneOrMore<Item extends z.ZodType>(item: Item, whenEmpty = "The list is empty.") {
  return choose((value) =>
    Array.isArray(value) ? z.array(item).min(1, whenEmpty) : item.transform((one) => [one] as z.infer<Item>[]),
  );
}

/** A union whose branch is told from the value, so that a problem keeps its place. */
function choose<Output>(branchOf: (value: unknown) => z.ZodType<Output>) {
  return z.unknown().transform((value, context) => {
    const parsed = branchOf(value).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues)
      for (const flaw of toFlaws(issue)) context.addIssue({ code: "custom", ...flaw });
    return z.NEVER;
  });
}

interface Flaw {
  readonly path: PropertyKey[];
  readonly message: string;
}

function toFlaws(issue: z.core.$ZodIssue): readonly Flaw[] {
  const { path, message } = issue;
  if (issue.code !== "unrecognized_keys") return [{ path, message }];
  return issue.keys.map((key) => ({
    path: [...path, key],
    message: `\`${key}\` means nothing here. ${message}`,
  }));
}

function hasItems(value: unknown): boolean {
  return typeof value === "object" && value !== null && "items" in value;
}

function toContent(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch {
    return undefined;
  }
}

/** The place of the value at a path, or of the nearest value around it. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  const node: unknown = document.getIn(path, true);
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1));
}
