import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { Validate } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import { jsonInText } from "../output/json-in-text.ts";
import { fencedBlocks, removeFence } from "../output/markdown-fence.ts";

export type AnswerFormat = (typeof FORMATS)[number];

const FORMATS = ["json", "text", "xml", "yaml"] as const;
const MAX_ALIASES = 100;

export function isAnswerFormat(value: Json | undefined): value is AnswerFormat {
  return FORMATS.some((format) => format === value);
}

/** Tells the model the format of its answer. Text needs no format. */
export function describeFormat(format: AnswerFormat, schema: JsonObject | undefined): string | undefined {
  const form = { json: "JSON value", yaml: "YAML document", xml: "well-formed XML document", text: undefined }[format];
  if (form === undefined) return undefined;
  const fitting = schema === undefined || format === "xml" ? "" : " that fits the JSON Schema below";
  const instruction = `Answer with one ${form}${fitting}, and with nothing else: no explanation, no Markdown.`;
  return fitting === "" ? instruction : `${instruction}\n\n${writeExact(schema)}`;
}

export type FormattedAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly violations: readonly SchemaViolation[] };

/** Reads an answer in the form that was asked for. The first reading that fits the schema counts. */
export async function readFormatted(
  text: string,
  format: AnswerFormat,
  validate: Validate | undefined,
): Promise<FormattedAnswer> {
  switch (format) {
    case "json":
      return check(jsonIn(text, validate !== undefined), { form: "JSON", validate });
    case "yaml":
      return check(await readYaml(removeFence(text)), { form: "YAML map or list", validate });
    // XML is not checked: there is no parser here.
    case "xml":
      return check([removeFence(text)], { form: "XML", validate });
    case "text":
      // `yes` and `yes` with a line break are the same word.
      return check(validate === undefined ? [text] : [text, removeFence(text)], { form: "text", validate });
  }
}

async function check(
  readings: Iterable<Json>,
  { form, validate }: { readonly form: string; readonly validate: Validate | undefined },
): Promise<FormattedAnswer> {
  let violations: readonly SchemaViolation[] | undefined;
  for (const value of readings) {
    const found = (await validate?.(value)) ?? [];
    if (found.length === 0) return { ok: true, value };
    violations ??= found;
  }
  return { ok: false, violations: violations ?? [{ path: "", message: `holds no ${form}` }] };
}

/** In prose anything in brackets could be meant; a schema tells it from `[1]`. */
function* jsonIn(text: string, hasSchema: boolean): Generator<Json> {
  if (hasSchema) return yield* jsonInText(text);
  for (const block of [text, removeFence(text), ...fencedBlocks(text)]) {
    const value = parseJson(block);
    if (value !== undefined) yield value;
  }
}

/** Prose is valid YAML, a text; that is not what was asked for. */
async function readYaml(text: string): Promise<readonly Json[]> {
  const { parse } = await import("yaml");
  try {
    const value: unknown = parse(text, { schema: "core", maxAliasCount: MAX_ALIASES, logLevel: "error" });
    // Through JSON: what stands in the output is data that JSON can hold, and of bounded depth.
    const json = parseJson(writeExact(value) ?? "null");
    return typeof json === "object" && json !== null ? [json] : [];
  } catch {
    return [];
  }
}
