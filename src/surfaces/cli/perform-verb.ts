import { buffer } from "node:stream/consumers";
import { ERRORS } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { readBinaryFile, readTextFile } from "../../operations/definitions/read-text-file.ts";
import { type Field, fieldsOf, fromText } from "../../operations/fields.ts";
import type { CliVerb, Operation } from "../../operations/operation.ts";
import { parseJson } from "../../operations/parse-json.ts";
import { MAX_PAGE } from "../../operations/schemas.ts";
import { gatherInput } from "../../operations/start/input/gather-input.ts";
import type { Caller } from "./caller.ts";
import { type CommonOptions, formatOf, pageOptions } from "./cli-context.ts";
import { print, printEnvelope, tell } from "./print.ts";
import { io } from "./process-io.ts";
import { VIEWS } from "./render/pages/views.ts";
import { sanitizeLine } from "./render/text/sanitize.ts";
import { flagsOf, optionNameOf, partNameOf } from "./verbs/option-names.ts";

/** What was written on the command line: positional arguments, and options by their names in camel case. */
export interface Written {
  readonly args: readonly (string | undefined)[];
  readonly options: CommonOptions & Readonly<Record<string, unknown>>;
}

export interface Described {
  readonly operation: Operation;
  readonly verb: CliVerb;
}

/** Calls an operation with what was written, and shows the answer. Returns the exit code. */
export async function performVerb(caller: Caller, described: Described, written: Written): Promise<number> {
  const { verb } = described;
  const { output, given } = await callVerb(caller, described, written);
  if (output instanceof Uint8Array) io().stdout.write(output);
  else if (formatOf(written.options) !== "text") printEnvelope(output);
  else await showOutput(verb, output, given);
  return verb.exitCodeOf?.(output) ?? 0;
}

/** What the operation answers to what was written. */
export async function callVerb(
  caller: Caller,
  { operation, verb }: Described,
  written: Written,
): Promise<{ readonly output: unknown; readonly given: Given }> {
  const given = await toInput(operation, verb, written);
  const wanted = verb.isWhole === true ? { ...given, limit: Number.POSITIVE_INFINITY } : given;
  try {
    return { given, output: await callFor(caller, operation, wanted) };
  } catch (error) {
    throw withHelp(verb, error);
  }
}

/** What does not fit is told with the verb's help, unless a better remedy is known. */
function withHelp({ verb }: CliVerb, error: unknown): unknown {
  if (!isPawlError(error) || error.remedy !== ERRORS.REQUEST_INVALID.remedy) return error;
  const { code, message, details } = error;
  return new PawlError(code, { message, details, remedy: `See \`pawl ${verb} --help\`.`, cause: error });
}

/** A list longer than a page is read in several. */
async function callFor(caller: Caller, operation: Operation, given: Given): Promise<unknown> {
  const { limit: wanted } = given;
  if (typeof wanted !== "number" || wanted <= MAX_PAGE || !("cursor" in operation.input.shape))
    return caller.call(operation, given);
  const items: Json[] = [];
  let { cursor } = given;
  do {
    const limit = Math.min(MAX_PAGE, wanted - items.length);
    const page = await caller.call(operation, { ...given, limit, cursor });
    items.push(...itemsOf(page));
    cursor = isJsonObject(page) ? page["next_cursor"] : null;
  } while (cursor !== null && items.length < wanted);
  return { items, next_cursor: cursor };
}

/** For a person. */
export async function showOutput({ table, view, show }: CliVerb, output: unknown, given: Given = {}): Promise<void> {
  if (table !== undefined) {
    const { renderList } = await import("./render/pages/render-list.ts");
    print(renderList(table, itemsOf(output), pageOptions()));
  }
  if (view !== undefined) {
    const render = VIEWS[view];
    // Each view is named by operations with the output that it shows.
    print(render(output as never, pageOptions()));
  }
  const { data, told = [] } = show?.(output, given) ?? {};
  // Below a table it is for a person as well.
  if (data !== undefined) print(table === undefined ? data : data.split("\n").map(sanitizeLine).join("\n"));
  for (const line of told) tell(sanitizeLine(line));
  const more = isJsonObject(output) ? output["next_cursor"] : undefined;
  if (typeof more === "string") tell(`There are more: --cursor ${more}`);
}

/** The items of a list; of any other output, that alone. */
function itemsOf(output: unknown): readonly Json[] {
  if (!isJsonObject(output)) return [];
  return Array.isArray(output["items"]) ? (output["items"] as readonly Json[]) : [output];
}

type Given = Readonly<Record<string, unknown>>;

async function toInput(operation: Operation, verb: CliVerb, { args, options }: Written): Promise<Given> {
  const { args: positions = [], fixed = {}, files = [], parts = [] } = verb;
  const usual = { ...verb.usual, ...(formatOf(options) === "text" ? verb.usualShown : {}) };
  const given: Record<string, unknown> = {};
  for (const field of fieldsOf(operation.input)) {
    const at = positions.indexOf(field.name);
    const written = (at === -1 ? options[optionNameOf(verb, field)] : args[at]) ?? usual[field.name];
    if (written === undefined) continue;
    const name = flagsOf(verb, field)?.split(" ")[0] ?? field.name;
    if (!files.includes(field.name)) given[field.name] = await toValue(field, written, name);
    else given[field.name] = await (field.kind === "bytes" ? readContent : readSource)(String(written));
  }
  for (const part of parts) {
    const written = options[partNameOf(part)];
    if (written !== undefined) put(given, part.at, part.clears === true ? undefined : (part.value ?? written));
  }
  if ("input" in operation.input.shape) {
    const { i: pairs, input: file } = options as { readonly i?: readonly string[]; readonly input?: string };
    if (pairs !== undefined || file !== undefined)
      given["input"] = await gatherInput({ pairs: pairs ?? [], folder: process.cwd(), file }, undefined);
  }
  return { ...given, ...fixed };
}

/** The text of a file, or of stdin where it is `-`. */
export async function readSource(path: string): Promise<string> {
  return Buffer.from(await readContent(path)).toString("utf8");
}

function readContent(path: string): Promise<Uint8Array> {
  return path === "-" ? buffer(io().stdin) : readBinaryFile(path);
}

/** `@FILE` stands for the text of a file where a value is JSON. */
async function toValue({ kind }: Field, written: unknown, name: string): Promise<unknown> {
  if (Array.isArray(written)) return written.flatMap((each) => fromText(kind, String(each)));
  if (typeof written !== "string") return written;
  if (kind !== "json") return fromText(kind, written);
  return parseJson(written.startsWith("@") ? await readTextFile(written.slice(1)) : written, `\`${name}\``);
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
