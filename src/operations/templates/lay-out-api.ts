import { basename } from "node:path";
import { parse, stringify } from "yaml";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import { toExcerpt, toPrintable } from "../../dialects/source/printable.ts";
import { findReferred } from "../../schemas/schema-parts.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { type LaidOut, layOutContents } from "./lay-out-files.ts";

export interface ApiWanted {
  /** Where the API is. Absent: where the document says. */
  readonly server?: string;
  /** Ids of operations, or `METHOD /path`. Absent: all. */
  readonly only?: readonly string[];
}

export interface LaidOutApi extends LaidOut {
  /** What has no file, or is no input of its file, and why. */
  readonly left_out: readonly string[];
  /** Names of the environment's variables that the files read. */
  readonly variables: readonly string[];
}

interface Operation {
  /** Of the workflow and its file. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The document, the path, the operation. */
  readonly levels: readonly [JsonObject, JsonObject, JsonObject];
}

const METHODS = ["get", "head", "post", "put", "patch", "delete"];
const MAX_OPERATIONS = 200;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 100;
/** Nothing of it is read as an expression or a variable. */
const ADDRESS = /^https?:\/\/[^\s$`{}?#]+$/;
const NAME = /^[\w.:@$[\]-]{1,100}$/;
const SCOPE = /^[\w.:/@*+-]+$/;
const MEDIA = /^application\/(x-www-form-urlencoded|([\w.+-]+\+)?json)(; ?[\w=-]+)?$/i;
const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const MAX_CHARS = 500_000;

/**
 * Lays out a workflow of UHLP for each operation of an OpenAPI document: its input is typed, and sent by one `http` step. The document is
 * data: nothing is fetched for it, and none of its texts becomes an expression. Throws `DEFINITION_INVALID`, `FILE_NOT_FOUND`,
 * `FOLDER_UNWRITABLE`, `USAGE`.
 */
export async function layOutApi(document: string, dir: string, { server, only }: ApiWanted = {}): Promise<LaidOutApi> {
  const root = readDocument(document, await readTextFile(document));
  const api = toName(basename(document).replace(/\..*$/s, "")) || "api";
  const all = listOperations(root);
  const wanted = all.filter((operation) => only?.some((each) => isNamed(operation, each)) ?? true);
  const unknown = only?.find((each) => !all.some((operation) => isNamed(operation, each)));
  if (unknown !== undefined) {
    const ids = all.map(({ name, levels: [, , { operationId = name }] }) => toPrintable(String(operationId)));
    const remedy = suggest(unknown, ids) ?? "Write the id of an operation, or `GET /path` as the document has it.";
    throw new PawlError("USAGE", { message: `${document} has no operation ${shown(unknown)}.`, remedy });
  }
  if (wanted.length > MAX_OPERATIONS) {
    throw new PawlError("USAGE", {
      message: `${document} has ${wanted.length} operations; at most ${MAX_OPERATIONS} are laid out at once.`,
      remedy: "Name those that you need: `--only getPet --only 'GET /pets'`.",
    });
  }
  const files = new Map<string, Buffer>();
  const left: string[] = [];
  const variables = new Set<string>();
  for (const operation of wanted) {
    const file = `${operation.name}.yaml`;
    const tell = (why: string) => left.push(`${operation.name}: ${why}`);
    try {
      if (files.has(file)) throw unsaid("another operation has this name");
      const text = stringify(new OperationWorkflow(operation, { api, server, variables, tell }).toWorkflow(), {
        lineWidth: 0,
      });
      if (text.length > MAX_CHARS) throw unsaid("its schemas are too large for a workflow");
      files.set(file, Buffer.from(text));
    } catch (error) {
      if (!isPawlError(error)) throw error;
      tell(error.message);
    }
  }
  if (files.size === 0) {
    const message = `${document} gives no workflow: ${left[0] ?? "it has no operations"}.`;
    throw new PawlError("DEFINITION_INVALID", { message, remedy: "Give another document, or `--server URL`." });
  }
  return { ...(await layOutContents(dir, files)), left_out: left, variables: [...variables].sort() };
}

function isNamed({ name, method, path, levels: [, , { operationId }] }: Operation, asked: string): boolean {
  return asked === name || asked === operationId || asked === `${method} ${path}`;
}

function readDocument(file: string, text: string): JsonObject {
  const refuse = (why: string) =>
    new PawlError("DEFINITION_INVALID", {
      message: `${file} is no document of OpenAPI 3: ${why}.`,
      remedy: "Give a document of OpenAPI 3.0, 3.1 or 3.2, as JSON or YAML, in one file.",
    });
  if (text.length > MAX_BYTES) throw refuse("it is larger than 16 MB");
  let root: Json | undefined = parseJson(text);
  try {
    root ??= parse(text, { maxAliasCount: 100, merge: true }) as Json;
  } catch (error) {
    throw refuse(toPrintable(String(error instanceof Error ? error.message.split("\n")[0] : error)));
  }
  if (!isJsonObject(root)) throw refuse("it is no map");
  const { openapi, swagger } = root;
  if (/^3\.[0-2](\.|$)/.test(String(openapi))) return root;
  throw refuse(swagger === undefined ? "it has no `openapi: 3...`" : "it is of Swagger 2");
}

function listOperations(root: JsonObject): readonly Operation[] {
  return Object.entries(mapOf(root["paths"])).flatMap(([path, written]) => {
    const item = follow(root, written);
    return METHODS.flatMap((key) => {
      const does = item[key];
      if (!isJsonObject(does)) return [];
      const { operationId } = does;
      const name = toName(typeof operationId === "string" ? operationId : `${key}${path}`) || key;
      return [{ name, method: key.toUpperCase(), path, levels: [root, item, does] as const }];
    });
  });
}

interface Surroundings {
  readonly api: string;
  readonly server: string | undefined;
  readonly variables: Set<string>;
  /** Of a part that is left out. */
  tell(why: string): void;
}

/** The one step of an operation's workflow, and the workflow's input. */
class OperationWorkflow {
  readonly #operation: Operation;
  readonly #around: Surroundings;
  readonly #root: JsonObject;
  readonly #properties = new Map<string, Json>();
  readonly #required: string[] = [];
  readonly #query = new Map<string, string>();
  readonly #headers = new Map<string, string>();
  /** Names of schemas by references to them, and these schemas. */
  readonly #names = new Map<string, string>();
  readonly #shared = new Map<string, Json>();

  constructor(operation: Operation, around: Surroundings) {
    this.#operation = operation;
    this.#around = around;
    [this.#root] = operation.levels;
  }

  toWorkflow(): object {
    const { name, method, path, levels } = this.#operation;
    const { summary, description = summary } = levels[2];
    const url = this.#addressOf(this.#readParameters());
    const body = this.#readBody();
    const auth = this.#readSecurity();
    const schema = {
      $schema: String(this.#root["openapi"]).startsWith("3.0") ? undefined : DRAFT,
      type: "object",
      properties: Object.fromEntries(this.#properties),
      required: this.#required,
      additionalProperties: false,
      $defs: filled(this.#shared),
    };
    const sent = { query: filled(this.#query), headers: filled(this.#headers), ...body, auth };
    return {
      workflowId: `${this.#around.api}.${name}`,
      description: `${method} ${path}. ${typeof description === "string" ? description.slice(0, 500) : ""}`.trim(),
      inputSchema: schema,
      startAt: "call",
      steps: { call: { type: "http", method, url, ...sent, end: true } },
    };
  }

  /** Gives the expressions of what stands in the path, by name. */
  #readParameters(): ReadonlyMap<string, string> {
    const inPath = new Map<string, string>();
    const [, item, does] = this.#operation.levels;
    const declared = [item, does]
      .flatMap(({ parameters }) => listOf(parameters))
      .map((each) => follow(this.#root, each));
    // The operation's own stand over those of its path.
    const byPlace = new Map(declared.map((each) => [`${each["in"]} ${each["name"]}`, each]));
    const sent = new Map([
      ["path", inPath],
      ["header", this.#headers],
      ["query", this.#query],
    ]);
    for (const { in: place, name, required, schema, style = "form", explode } of byPlace.values()) {
      if (place === "header" && /^(accept|authorization|content-type)$/i.test(String(name))) continue;
      const { type, properties } = follow(this.#root, schema);
      const isDeep = type === "object" && properties !== undefined && style === "deepObject";
      const isPlain = type === "array" ? place === "query" && style === "form" : type !== "object" || isDeep;
      const values = sent.get(String(place));
      if (values === undefined || schema === undefined || !isPlain || !NAME.test(String(name))) {
        this.#leave(`its parameter ${shown(name)} (${shown(place)}) cannot be sent by an \`http\` step`, required);
        continue;
      }
      const value = this.#addInput(String(name), schema, { required, place: String(place) });
      const isJoined = type === "array" && explode === false;
      const parts = isDeep ? Object.keys(mapOf(properties)).filter((part) => NAME.test(part)) : [];
      for (const part of parts) values.set(`${name}[${part}]`, member(value, part));
      if (!isDeep) values.set(String(name), isJoined ? `${value} == null ? null : join(${value}, ',')` : value);
    }
    return inPath;
  }

  #addressOf(values: ReadonlyMap<string, string>): string {
    const { path, levels } = this.#operation;
    const server = this.#around.server ?? serverOf(levels);
    if (!ADDRESS.test(server)) throw unsaid("the document says no address of a server; give one with `--server URL`");
    if (!/^\/[^\s$`?#]*$/.test(path)) throw unsaid("its path is none that a step could ask for");
    const asked = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
      const value = values.get(name);
      if (value === undefined) throw unsaid(`the document says nothing of ${shown(name)} in its path`);
      return `\${${value}}`;
    });
    return `${server.replace(/\/+$/, "")}${asked}`;
  }

  #readBody(): JsonObject {
    const { content, required } = follow(this.#root, this.#operation.levels[2]["requestBody"]);
    if (content === undefined) return {};
    const { method } = this.#operation;
    const [type = "", media] = Object.entries(mapOf(content)).find(([each]) => MEDIA.test(each)) ?? [];
    if (media === undefined || method === "GET" || method === "HEAD") {
      this.#leave("its body cannot be sent by an `http` step", required);
      return {};
    }
    const { schema = {} } = mapOf(media);
    const value = this.#addInput("body", schema, { required, place: "request" });
    if (/x-www-form/i.test(type)) {
      const fields = Object.keys(mapOf(follow(this.#root, schema)["properties"])).filter((field) => NAME.test(field));
      return { form: Object.fromEntries(fields.map((field) => [field, member(value, field)])) };
    }
    if (type !== "application/json") this.#headers.set("content-type", quote(type));
    return { body: value };
  }

  /** The first way that the document names. */
  #readSecurity(): JsonObject | undefined {
    const [root, , does] = this.#operation.levels;
    const { securitySchemes } = mapOf(root["components"]);
    let auth: JsonObject | undefined;
    for (const [scheme, scopes] of Object.entries(listOf(does["security"] ?? root["security"])[0] ?? {})) {
      const { type, scheme: how, in: place, name, flows } = follow(root, mapOf(securitySchemes)[scheme]);
      const { tokenUrl } = mapOf(mapOf(flows)["clientCredentials"]);
      if (type === "apiKey" && typeof name === "string" && NAME.test(name) && place !== "cookie")
        (place === "query" ? this.#query : this.#headers).set(name, this.#variable("key"));
      else if (type === "http" && /^basic$/i.test(String(how)))
        auth = { basic: { username: this.#variable("user"), password: this.#variable("password") } };
      else if (type === "oauth2" && typeof tokenUrl === "string" && ADDRESS.test(tokenUrl)) {
        const scope = Array.isArray(scopes) ? scopes.filter((each) => SCOPE.test(String(each))).join(" ") : "";
        const client = { clientId: this.#variable("client_id"), clientSecret: this.#variable("client_secret") };
        auth = { oauth: { tokenUrl, ...client, ...(scope !== "" && { scope: quote(scope) }) } };
      } else if (type === "oauth2" || type === "openIdConnect" || (type === "http" && /^bearer$/i.test(String(how))))
        auth = { bearer: this.#variable("token") };
      else this.#leave(`nothing is sent for its security scheme ${shown(scheme)}`);
    }
    return auth;
  }

  /** Throws where a request without it would be refused. */
  #leave(why: string, required?: Json): void {
    if (required === true) throw unsaid(why);
    this.#around.tell(why);
  }

  #variable(what: string): string {
    const upper = `${this.#around.api}_${what}`.replaceAll("-", "_").toUpperCase();
    const name = /^\d/.test(upper) ? `API_${upper}` : upper;
    this.#around.variables.add(name);
    return `\${${name}}`;
  }

  /** Gives the expression that reads it. */
  #addInput(wanted: string, schema: Json, { required, place }: { readonly required?: Json; readonly place: string }) {
    const name = this.#properties.has(wanted) ? `${place}_${wanted}` : wanted;
    this.#properties.set(name, this.#copy(schema));
    if (required === true) this.#required.push(name);
    return member("trigger.payload", name);
  }

  /** With references to `$defs`, bounds of OpenAPI 3.0 as JSON Schema has them, and nothing required that only answers have. */
  #copy(value: Json, depth = 0): Json {
    if (depth > MAX_DEPTH) throw unsaid("its schemas nest too deeply");
    if (Array.isArray(value)) return value.map((each) => this.#copy(each, depth + 1));
    if (!isJsonObject(value)) return value;
    const { nullable, ...other } = value;
    if (nullable === true && other["type"] === undefined)
      return { anyOf: [this.#copy(other, depth + 1), { type: "null" }] };
    const entries = Object.entries(value).flatMap(([key, each]): [string, Json][] => {
      if (key === "$ref" && typeof each === "string") return [[key, `#/$defs/${this.#share(each, depth)}`]];
      const [, bound] = /^exclusive(Minimum|Maximum)$/.exec(key) ?? [];
      if (typeof each === "boolean" && bound !== undefined) return each ? [[key, value[bound.toLowerCase()] ?? 0]] : [];
      if (key === "minimum" && value["exclusiveMinimum"] === true) return [];
      if (key === "maximum" && value["exclusiveMaximum"] === true) return [];
      if (key === "required" && Array.isArray(each))
        return [[key, each.filter((name) => mapOf(mapOf(value["properties"])[String(name)])["readOnly"] !== true)]];
      return [[key, this.#copy(each, depth + 1)]];
    });
    return Object.fromEntries(entries);
  }

  #share(reference: string, depth: number): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const found = findReferred(this.#root, reference);
    if (found === undefined) throw unsaid(`the reference ${shown(reference)} leads to nothing in the document`);
    const short = toName(reference.replace(/^.*\//s, ""));
    const name = short === "" || this.#shared.has(short) ? `${short}_${this.#names.size}` : short;
    this.#names.set(reference, name);
    // One that refers to itself finds its name.
    this.#shared.set(name, true);
    this.#shared.set(name, this.#copy(found, depth + 1));
    return name;
  }
}

/** With the defaults of its variables. Empty: there is none. */
function serverOf(levels: readonly JsonObject[]): string {
  const [first = {}] = levels.toReversed().flatMap(({ servers }) => listOf(servers));
  const variables = mapOf(first["variables"]);
  return String(first["url"] ?? "").replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    return String(mapOf(variables[name])["default"] ?? "");
  });
}

/** What stands there, or what a reference there leads to. Empty: nothing. */
function follow(root: JsonObject, written: Json | undefined): JsonObject {
  let found = mapOf(written);
  for (let hops = 0; found["$ref"] !== undefined; hops += 1)
    found = hops < MAX_DEPTH ? (findReferred(root, found["$ref"]) ?? {}) : {};
  return found;
}

function filled(values: ReadonlyMap<string, Json>): JsonObject | undefined {
  return values.size === 0 ? undefined : Object.fromEntries(values);
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function member(of: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${of}.${name}` : `${of}[${quote(name)}]`;
}

/** As a text in an expression. */
function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}

function shown(text: Json | undefined): string {
  return `\`${toExcerpt(String(text))}\``;
}

function toName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replaceAll(/^[_-]+|[_-]+$/g, "")
    .slice(0, 80);
}

function unsaid(why: string): PawlError {
  return new PawlError("NOT_SUPPORTED", { message: why });
}
