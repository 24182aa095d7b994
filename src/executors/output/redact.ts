import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { REDACTED } from "../../core/trust/secret-names.ts";
import type { Outcome } from "../../ports/executor.ts";

/** Takes secrets out of everything that leaves an executor: messages, details, logs and answers. */
export interface Redactor {
  text(text: string): string;
  json<Value extends Json>(value: Value): Value;
  bytes(content: Buffer): Buffer;
}

// Masking a shorter one would tear ordinary words apart and hide nothing that cannot be guessed.
const MIN_SECRET_LENGTH = 4;

export function createRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const written = [...new Set(secrets.flatMap(spellings))].sort((a, b) => b.length - a.length);
  if (written.length === 0) return { text: (text) => text, json: (value) => value, bytes: (content) => content };

  const text = (value: string) => written.reduce((masked, secret) => masked.replaceAll(secret, REDACTED), value);
  return {
    text,
    // A walk keeps the shape, so what comes back is the type that went in.
    json: <Value extends Json>(value: Value) => redactJson(value, text) as Value,
    bytes: (content) => Buffer.from(text(content.toString("latin1")), "latin1"),
  };
}

/** The same for secrets that change: `read` returns those that are known now. */
export function createLiveRedactor(read: () => readonly string[]): Redactor {
  let known = read();
  let redactor = createRedactor(known);
  const now = () => {
    const secrets = read();
    if (secrets.length !== known.length || secrets.some((secret, i) => secret !== known[i])) {
      known = secrets;
      redactor = createRedactor(secrets);
    }
    return redactor;
  };
  return {
    text: (text) => now().text(text),
    json: (value) => now().json(value),
    bytes: (content) => now().bytes(content),
  };
}

/** Redacts the final outcome: error texts of the runtime, and values that parsing has unpacked. */
export function redactOutcome(outcome: Outcome, redactor: Redactor): Outcome {
  if (outcome.status === "failed") {
    const details: Json | undefined = outcome.details === undefined ? undefined : redactor.json(outcome.details);
    return { ...outcome, message: redactor.text(outcome.message), ...(details !== undefined && { details }) };
  }
  const files = outcome.files?.map((file) => ({
    name: redactor.text(file.name),
    content: redactor.bytes(Buffer.from(file.content)),
  }));
  return {
    ...outcome,
    output: redactor.json(outcome.output),
    ...(files !== undefined && files.length > 0 && { files }),
  };
}

/** The secret as it stands, inside JSON, and inside a URL. */
function spellings(secret: string | undefined): string[] {
  const trimmed = secret?.trim() ?? "";
  if (trimmed.length < MIN_SECRET_LENGTH) return [];
  return [trimmed, writeExact(trimmed).slice(1, -1), encodeURIComponent(trimmed)];
}

function redactJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactJson(item, redact)]));
}
