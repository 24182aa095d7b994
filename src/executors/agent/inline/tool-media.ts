import { isBase64 } from "../../../core/expressions/encodings.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Model } from "../../models/create-models.ts";
import type { Prompt } from "../../models/language-model.ts";

/** An image or a sound of a tool's result. */
export interface ToolMedia {
  readonly mediaType: string;
  /** Base64, as it came. */
  readonly data: string;
}

const IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const SOUNDS: readonly string[] = ["audio/wav", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/aac"];
/** What the model of a provider takes in the result of a tool. Of others nothing is known: they read what stands for it. */
const TAKEN: Partial<Readonly<Record<Model["kind"], readonly string[]>>> = {
  anthropic: IMAGES,
  openai: IMAGES,
  google: [...IMAGES, ...SOUNDS],
};

/** Of one result. Providers refuse larger ones. */
const MAX_MEDIA = 8;
const MAX_CHARS = 5 * 1024 * 1024;
/** Of a conversation, which is sent whole with each turn. */
const MAX_SHOWN_CHARS = 20 * 1024 * 1024;

/** What a model could see or hear of the content of a result, embedded resources included. */
export function findMedia(content: readonly Json[]): readonly ToolMedia[] {
  const found = content.flatMap((block): readonly ToolMedia[] => {
    if (!isJsonObject(block)) return [];
    const { mimeType, data } = isJsonObject(block["resource"])
      ? { mimeType: block["resource"]["mimeType"], data: block["resource"]["blob"] }
      : block;
    if (typeof mimeType !== "string" || typeof data !== "string" || data.length > MAX_CHARS) return [];
    const mediaType = mimeType.toLowerCase();
    return [...IMAGES, ...SOUNDS].includes(mediaType) && data !== "" && isBase64(data) ? [{ mediaType, data }] : [];
  });
  return found.slice(0, MAX_MEDIA);
}

/** Counts what a conversation shows, from its beginning on, so that each turn repeats what the one before it has sent. */
export class ShownMedia {
  readonly #taken: readonly string[];
  #leftChars = MAX_SHOWN_CHARS;

  constructor(kind: Model["kind"]) {
    this.#taken = TAKEN[kind] ?? [];
  }

  take(media: readonly ToolMedia[]): readonly ToolMedia[] {
    return media.filter(({ mediaType, data }) => {
      if (!this.#taken.includes(mediaType) || data.length > this.#leftChars) return false;
      this.#leftChars -= data.length;
      return true;
    });
  }
}

/** No provider counts more tokens for an image, nor for so many characters of a sound. */
const IMAGE_TOKENS = 8_000;
const CHARS_PER_TOKEN = 16;

/** The prompt as its tokens are counted: a text has at most one for each byte, and an image or a sound far fewer. */
export function toCounted(prompt: Prompt): Json {
  return prompt.map((message) => {
    if (message.role !== "tool") return message;
    return {
      ...message,
      content: message.content.map((part) => (part.type === "tool-result" ? countResult(part) : part)),
    };
  }) as unknown as Json;
}

type ResultPart = Extract<Extract<Prompt[number], { role: "tool" }>["content"][number], { type: "tool-result" }>;

function countResult(part: ResultPart): object {
  if (part.output.type !== "content") return part;
  const value = part.output.value.map((shown) => {
    if (shown.type !== "file" || shown.data.type !== "data" || typeof shown.data.data !== "string") return shown;
    const isImage = shown.mediaType.startsWith("image/");
    return " ".repeat(isImage ? IMAGE_TOKENS : Math.max(IMAGE_TOKENS, shown.data.data.length / CHARS_PER_TOKEN));
  });
  return { ...part, output: value };
}
