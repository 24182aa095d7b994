import { resolve } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readJson } from "../../../core/parse-json.ts";
import { readTextFile } from "../../definitions/read-text-file.ts";
import { placeFlaw, toValue } from "../../parse-json.ts";

export interface GivenInput {
  /** `key=value` each; `key=@file` reads a file. They go before the file's. */
  readonly pairs: readonly string[];
  /** A JSON file with the whole input, or that JSON itself. */
  readonly file?: string;
  /** The folder that files are relative to. */
  readonly folder: string;
}

/** The input as a user wrote it. A value is JSON where it parses and the schema does not ask for a text. */
export async function gatherInput(given: GivenInput, schema: JsonObject | undefined): Promise<JsonObject> {
  const input: Record<string, Json> =
    given.file === undefined ? {} : { ...(await readInputFile(given.file, given.folder)) };
  for (const pair of given.pairs) {
    const equals = pair.indexOf("=");
    if (equals <= 0) throw new PawlError("USAGE", { message: `\`-i ${pair}\`: write \`-i key=value\`.` });
    const name = pair.slice(0, equals);
    const written = pair.slice(equals + 1);
    const text = written.startsWith("@") ? await readTextFile(resolve(given.folder, written.slice(1))) : written;
    define(input, name, wantsText(schema, name) ? text : toValue(text, `\`${name}\``, "INPUT_INVALID"));
  }
  return input;
}

async function readInputFile(file: string, folder: string): Promise<JsonObject> {
  const isWritten = file.trimStart().startsWith("{");
  const text = isWritten ? file : await readTextFile(resolve(folder, file));
  const what = isWritten ? "`--input`" : file;
  const read = readJson(text);
  if (!read.ok) throw new PawlError("INPUT_INVALID", { message: `${what} ${placeFlaw(text, read)}.` });
  const { value } = read;
  if (!isJsonObject(value)) throw new PawlError("INPUT_INVALID", { message: `${what} must hold a JSON object.` });
  return value;
}

/** A name like any other, also where it is `__proto__`. */
function define(input: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true });
}

function wantsText(schema: JsonObject | undefined, name: string): boolean {
  const properties = schema?.["properties"];
  const property = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) return mayBeText(schema?.["additionalProperties"]);
  return isJsonObject(property) && property["type"] === "string";
}

/** Without declared names a value that may be a text is one, so that `007` stays `007`. */
function mayBeText(others: Json | undefined): boolean {
  const type = isJsonObject(others) ? others["type"] : undefined;
  return type === "string" || (Array.isArray(type) && type.includes("string"));
}
