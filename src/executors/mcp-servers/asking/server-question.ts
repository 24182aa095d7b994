import { createHash } from "node:crypto";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { writeExact } from "../../../core/exact-json.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { TaskQuestion } from "../../../ports/executor.ts";
import type { Redactor } from "../../output/redact.ts";
import { toShownText } from "../../output/shown-text.ts";
import { findSpecFlaw } from "../tool-list-check.ts";

/** Whose question it is. */
export interface Asker {
  readonly server: string;
  readonly tool: string;
  readonly redactor: Redactor;
}

/** A server's question as a person gets it. All of it is the server's word: shown, never obeyed. */
export type ServerQuestion = Omit<TaskQuestion, "key">;

const MAX_MESSAGE_CHARS = 4_000;
const MAX_TEXT_CHARS = 1_000;
const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_FIELDS = 50;
const MAX_URL_CHARS = 2_000;
/** The forms of the protocol are flat. Anything else of a schema, as a pattern that takes long, is not asked for. */
const FIELD_KEYS =
  "type title description enum enumNames oneOf anyOf const items default format minimum maximum minLength maxLength minItems maxItems";
const KEPT: ReadonlySet<string> = new Set(FIELD_KEYS.split(" "));
const SHOWN: ReadonlySet<string> = new Set(["title", "description", "enumNames"]);

/** Reads the parameters of `elicitation/create`. A text says why they cannot be asked. */
export function readQuestion(params: Json | undefined, { server, tool, redactor }: Asker): ServerQuestion | string {
  const flaw = findSpecFlaw("ElicitRequestParams", params ?? null);
  if (flaw !== undefined || !isJsonObject(params)) return flaw ?? "it is no object";
  const said = showText(String(params["message"]), { redactor, atMost: MAX_MESSAGE_CHARS });
  if (params["mode"] === "url") return readLink(params, { server, tool, redactor, said });
  const { properties, required } = asObject(params["requestedSchema"]);
  const fields = Object.entries(asObject(properties));
  if (fields.length > MAX_FIELDS) return `its form has more than ${MAX_FIELDS} fields`;
  const shown = fields.map(([name, field]) => [name, tidyField(field, redactor)] as const);
  const schema = {
    type: "object",
    properties: Object.fromEntries(shown),
    ...(Array.isArray(required) ? { required } : {}),
    additionalProperties: false,
  };
  if (writeExact(schema).length > MAX_SCHEMA_BYTES) return `its form has more than ${MAX_SCHEMA_BYTES} characters`;
  const filled = shown.flatMap(([name, field]) => ("default" in field ? [[name, field["default"] ?? null]] : []));
  const message = `The MCP server "${server}" asks, for its tool "${tool}": ${said}`;
  return { message, show: Object.fromEntries(filled), allowEdit: true, schema };
}

function readLink(
  params: JsonObject,
  { server, tool, redactor, said }: Asker & { said: string },
): ServerQuestion | string {
  const url = URL.parse(String(params["url"]));
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > MAX_URL_CHARS || url.username !== "")
    return "its link is none that a person could be sent to";
  const message = [
    `The MCP server "${server}" wants you to open a page of ${url.host}, for its tool "${tool}": ${said}`,
    "Pawl does not open it. Approve when you agree and have done there what it asks for.",
  ];
  return { message: message.join("\n"), show: { url: redactor.text(url.href) } };
}

function tidyField(field: Json, redactor: Redactor): JsonObject {
  return asObject(tidy(field));

  function tidy(value: Json, key = ""): Json {
    if (typeof value === "string")
      return SHOWN.has(key) ? showText(value, { redactor, atMost: MAX_TEXT_CHARS }) : value;
    if (Array.isArray(value)) return value.map((part) => tidy(part, key));
    if (!isJsonObject(value)) return value;
    const kept = Object.entries(value).filter(([name]) => KEPT.has(name));
    return Object.fromEntries(kept.map(([name, part]) => [name, tidy(part, name)]));
  }
}

function showText(text: string, { redactor, atMost }: { redactor: Redactor; atMost: number }): string {
  const shown = toShownText(redactor.text(text));
  return shown.length > atMost ? `${shown.slice(0, atMost)} [cut]` : shown;
}

/** Names a question by what it asks, so that a server that asks it again is answered, and nobody is asked twice. */
export function nameQuestion(params: Json | undefined): string {
  const { message, mode, requestedSchema, url } = asObject(params);
  const asked = [message ?? null, mode === "url" ? (url ?? null) : (requestedSchema ?? null)];
  return createHash("sha256").update(writeExact(asked)).digest("hex").slice(0, 16);
}

/** A person's answer, as the server gets it. Undefined: there is none on record. */
export function toElicitResult(answer: Json | undefined, { show, schema }: ServerQuestion): ElicitResult | undefined {
  if (!isJsonObject(answer)) return undefined;
  if (answer["answer"] !== "approve") return { action: answer["answer"] === "reject" ? "decline" : "cancel" };
  if (schema === undefined) return { action: "accept" };
  // The form allows nothing but flat values, and it was checked.
  return { action: "accept", content: asObject(answer["edited"] ?? show) as ElicitResult["content"] };
}
