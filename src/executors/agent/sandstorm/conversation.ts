import { isJsonObject, type Json } from "../../../core/json.ts";
import type { ProducedFile } from "../../../ports/executor.ts";
import type { SandstormDocument } from "./document-decoder.ts";

/** The parts of a stream that count, collected while it is read. */
export interface Conversation {
  /** The first `result`: it ends the run, whatever follows. */
  result: SandstormDocument | undefined;
  /** The agent has said something before its result, if only which model it has. */
  hasBegun: boolean;
  /** The text of an `error` event that came instead. */
  error: string | undefined;
  /** The last message of the main agent; never one of a sub-agent. */
  lastMessage: { readonly id: Json | undefined; readonly text: string };
  readonly files: ProducedFile[];
  /** Why files are missing from `files`. */
  readonly fileProblems: string[];
}

const MAX_FILES = 100;
const MAX_FILES_BYTES = 64 * 1024 * 1024;

export function createConversation(): Conversation {
  return {
    result: undefined,
    hasBegun: false,
    error: undefined,
    lastMessage: { id: undefined, text: "" },
    files: [],
    fileProblems: [],
  };
}

/** Also servers without an agent at work send these. */
const NO_BEGINNING: ReadonlySet<string> = new Set(["error", "warning", "stderr", "file", "result"]);

export function addDocument(conversation: Conversation, document: SandstormDocument): void {
  conversation.hasBegun ||= !NO_BEGINNING.has(document.type);
  if (document.type === "result") conversation.result ??= document;
  else if (document.type === "file") collectFile(conversation, document);
  else if (conversation.result !== undefined) return;
  else if (document.type === "error") conversation.error ??= toErrorText(document);
  else if (document.type === "assistant" && isTopLevel(document)) addAssistant(conversation, document);
}

function addAssistant(conversation: Conversation, document: SandstormDocument): void {
  const message = isJsonObject(document["message"]) ? document["message"] : {};
  const text = textBlocks(message["content"]);
  if (text === "") return;
  const { id, text: before } = conversation.lastMessage;
  // A message may come block by block, each under the same id.
  const goesOn = id !== undefined && id === message["id"];
  conversation.lastMessage = { id: message["id"], text: goesOn ? `${before}\n${text}` : text };
}

function textBlocks(content: Json | undefined): string {
  if (!Array.isArray(content)) return "";
  const blocks: readonly Json[] = content;
  return blocks
    .flatMap((block) => (isJsonObject(block) && typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
}

function isTopLevel(document: SandstormDocument): boolean {
  return document["parent_tool_use_id"] === undefined || document["parent_tool_use_id"] === null;
}

function toErrorText(document: SandstormDocument): string {
  const text = document["error"] ?? document["message"];
  return typeof text === "string" && text !== "" ? text : "no reason was given";
}

function collectFile(conversation: Conversation, document: SandstormDocument): void {
  const name = [document["relative_path"], document["name"], document["path"]].find((part) => typeof part === "string");
  const data = document["data"];
  if (typeof name !== "string" || typeof data !== "string") return;
  const content = Buffer.from(data, "base64");
  const heldBytes = conversation.files.reduce((sum, file) => sum + file.content.byteLength, content.byteLength);
  if (conversation.files.length >= MAX_FILES) conversation.fileProblems.push(`${name}: more than ${MAX_FILES} files`);
  else if (heldBytes > MAX_FILES_BYTES)
    conversation.fileProblems.push(`${name}: more than ${MAX_FILES_BYTES} bytes of files`);
  else conversation.files.push({ name, content });
}
