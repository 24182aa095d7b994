import type { CallToolResult } from "@modelcontextprotocol/client";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { readJson } from "../../core/parse-json.ts";
import type { ProducedFile } from "../../ports/executor.ts";

type Content = CallToolResult["content"][number];

export interface ReadResult {
  readonly output: Json;
  readonly files: readonly ProducedFile[];
  /** It is JSON that cannot be kept: the end of a sentence. */
  readonly flaw?: string | undefined;
}

/**
 * Turns a tool's result into a step's output: its structured content; else JSON, if its only text is that; else its
 * text. Whatever is no text (images, sounds, links, resources) becomes an entry of `content`, and its bytes a file.
 */
export function readResult(result: CallToolResult): ReadResult {
  const files: ProducedFile[] = [];
  const others = result.content.filter(({ type }) => type !== "text").map((content) => describe(content, files));
  // The value came as JSON, whatever the SDK's type says.
  const structured = result.structuredContent as Json | undefined;
  if (structured !== undefined) return { output: structured, files };
  const texts = textsOf(result);
  if (others.length > 0) return { output: { text: texts.join("\n"), content: others }, files };
  const [text = "", ...more] = texts;
  return more.length > 0 ? { output: texts.join("\n"), files } : { ...toValue(text), files };
}

/** The tool's own error. */
export function readError(result: CallToolResult): {
  readonly message: string;
  readonly details: JsonObject | undefined;
} {
  const structured = result.structuredContent as Json | undefined;
  const message = textsOf(result).join("\n").trim();
  return {
    message: message === "" ? "The tool reported an error without a message." : message,
    details: isJsonObject(structured) ? structured : undefined,
  };
}

function textsOf({ content }: CallToolResult): readonly string[] {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** A number is one only where nothing is lost: `007` and 20 digits behind a point are text. */
function toValue(text: string): Pick<ReadResult, "output" | "flaw"> {
  const read = readJson(text);
  if (!read.ok) return { output: text, flaw: read.isJson ? read.flaw : undefined };
  const { value } = read;
  return { output: typeof value === "number" && String(value) !== text.trim() ? text : value };
}

function describe(content: Content, files: ProducedFile[]): JsonObject {
  switch (content.type) {
    case "image":
    case "audio": {
      const { type, mimeType } = content;
      return { type, mimeType, ...keep(files, { base64: content.data, mimeType }) };
    }
    case "resource": {
      const { uri, mimeType } = content.resource;
      const named = { type: content.type, uri, ...(mimeType === undefined ? {} : { mimeType }) };
      if ("text" in content.resource) return { ...named, text: content.resource.text };
      return { ...named, ...keep(files, { base64: content.resource.blob, mimeType: mimeType ?? "" }) };
    }
    case "resource_link": {
      const { type, uri, name, mimeType, description } = content;
      return {
        type,
        uri,
        name,
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(description === undefined ? {} : { description }),
      };
    }
    case "text":
      return { type: content.type, text: content.text };
  }
}

/** The bytes go where files go; the output names the file. They are bounded by the size of a message. */
function keep(files: ProducedFile[], { base64, mimeType }: { base64: string; mimeType: string }): JsonObject {
  const name = `content-${files.length + 1}.${extensionOf(mimeType)}`;
  const content = Buffer.from(base64, "base64");
  files.push({ name, content });
  return { file: name, bytes: content.byteLength };
}

/** `image/svg+xml` is `svg`; anything odd is `bin`. */
function extensionOf(mimeType: string): string {
  const [, subtype = ""] = /^[a-z]+\/(?:x-)?([a-z0-9]{1,10})(?:[+;]|$)/i.exec(mimeType) ?? [];
  return subtype === "" ? "bin" : subtype.toLowerCase();
}
