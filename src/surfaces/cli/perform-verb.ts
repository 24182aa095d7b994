import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson as readJson } from "../../core/parse-json.ts";
import { readTextFile } from "../../operations/definitions/read-text-file.ts";
import { type Field, fieldsOf, fromText } from "../../operations/fields.ts";
import type { CliVerb, Operation } from "../../operations/operation.ts";
import { gatherInput } from "../../operations/start/gather-input.ts";
import type { Caller } from "./caller.ts";
import { type CommonOptions, formatOf, pageOptions } from "./cli-context.ts";
import { print, printEnvelope, tell } from "./print.ts";
import { optionNameOf, partNameOf } from "./verbs/option-names.ts";

/** What was written on the command line: positional arguments, and options by their names in camel case. */
export interface Written {
  readonly args: readonly (string | undefined)[];
  readonly options: CommonOptions & Readonly<Record<string, unknown>>;
}

/** Calls an operation with what was written, and shows the answer. Returns the exit code. */
export async function performVerb(
  caller: Caller,
  { operation, verb }: { readonly operation: Operation; readonly verb: CliVerb },
  written: Written,
): Promise<number> {
  const output = await caller.call(operation, await toInput(operation, verb, written));
  if (formatOf(written.options) !== "text") printEnvelope(output);
  else await show(verb, output);
  return 0;
}

async function show({ table, show }: CliVerb, output: unknown): Promise<void> {
  if (show !== undefined) {
    const { data, told = [] } = show(output);
    if (data !== undefined) print(data);
    for (const line of told) tell(line);
  } else if (table !== undefined && isJsonObject(output)) {
    const { renderList } = await import("./render/render-list.ts");
    const items = Array.isArray(output["items"]) ? (output["items"] as readonly Json[]) : [];
    print(renderList(table, items, pageOptions()));
    if (typeof output["next_cursor"] === "string") tell(`There are more: --cursor ${output["next_cursor"]}`);
  }
}

/** The input of the operation, by the names of its fields. */
async function toInput(operation: Operation, verb: CliVerb, { args, options }: Written) {
  const { args: positions = [], fixed = {}, parts = [] } = verb;
  const given: Record<string, unknown> = {};
  for (const field of fieldsOf(operation.input)) {
    const at = positions.indexOf(field.name);
    const written = at === -1 ? options[optionNameOf(verb, field)] : args[at];
    if (written !== undefined) given[field.name] = await toValue(field, written);
  }
  for (const part of parts) {
    const written = options[partNameOf(part)];
    if (written !== undefined) put(given, part.at, written);
  }
  if ("input" in operation.input.shape) {
    const { i: pairs, input: file } = options as { readonly i?: readonly string[]; readonly input?: string };
    if (pairs !== undefined || file !== undefined)
      given["input"] = await gatherInput({ pairs: pairs ?? [], folder: process.cwd(), file }, undefined);
  }
  return { ...given, ...fixed };
}

/** `@FILE` stands for the text of a file where a value is JSON. */
async function toValue({ kind }: Field, written: unknown): Promise<unknown> {
  if (Array.isArray(written)) return written.flatMap((each) => fromText(kind, String(each)));
  if (typeof written !== "string") return written;
  if (kind !== "json") return fromText(kind, written);
  const text = written.startsWith("@") ? await readTextFile(written.slice(1)) : written;
  return readJson(text) ?? text;
}

function put(object: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    object[name] = value;
    return;
  }
  const inner = isJsonObject(object[name]) ? { ...object[name] } : {};
  put(inner as Record<string, unknown>, rest, value);
  object[name] = inner;
}
