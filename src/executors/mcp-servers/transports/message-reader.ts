import type { JSONRPCMessage, RequestId, SpecTypeName } from "@modelcontextprotocol/client";
import { BoundedMap } from "../../../core/bounded-map.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { NumberTooLarge } from "../../../core/long-integers.ts";
import type { Redactor } from "../../output/redact.ts";
import { showStart } from "../../output/shown-text.ts";
import { findSpecFlaw, ToolListCheck } from "../tool-list-check.ts";

/** Implementation-defined, in the range that JSON-RPC leaves to servers: an answer that makes no sense. */
export const UNREADABLE = -32_096;

/** What a text of a server was. An answer ends what was asked for, whatever it says. */
type Heard = "answer" | "message" | "noise";

interface Asked {
  readonly id: RequestId;
  readonly method: string;
  /** Of a call of a tool. */
  readonly key?: string;
}

/** In `_meta`: names a call of a tool, for its server and for us. */
export const CALL_KEY = "pawl/idempotency-key";
const MAX_ASKED_DURING = 1_000;

/** A broken answer that names no request: it belongs to the last of those that waited for one. */
interface Suspicion {
  readonly waiting: Set<string>;
  readonly why: string;
  readonly text: string;
}

/** How long the right answer may come after a wrong one. */
const GRACE_MS = 500;
const MAX_SUSPICIONS = 100;
/** A line that is meant as an answer, as against one of a log. */
const LIKE_A_MESSAGE = /^\s*(?:\[\s*)?\{\s*"|^[\s[{]*["']?jsonrpc\b|^\s*<(?:!doctype|html|\?xml)\b/i;
/** The id of a message that cannot be parsed: before all that lies in it, or behind it. */
const LEADING_ID = /^[\s[]*\{[^{]*?["']id["']\s*:\s*["']?([\w-]+)/;
const TRAILING_ID = /["']id["']\s*:\s*["']?([\w-]+)["']?[^{}]*\}\s*$/;
const SHOWN_PART = 4_000;

/**
 * Reads what a server sends as the server means it, for every transport and before the SDK does: an optional part that is
 * null is absent, and what is of no importance may be missing. What cannot be read fails its request at once, with the
 * cause and the beginning of the text: the SDK would drop it, and the request would wait for its time-out.
 */
export class MessageReader {
  readonly list = new ToolListCheck();
  /** Set by the transport. */
  deliver: (message: JSONRPCMessage) => void = () => undefined;
  readonly #redactor: Redactor;
  readonly #waiting = new Map<string, Asked>();
  readonly #suspicions = new Set<Suspicion>();
  /** The calls in whose streams requests of the server came, by the ids of these. */
  readonly #askedDuring = new BoundedMap<string, string>(MAX_ASKED_DURING);
  #lastId = -1;
  /** It speaks a revision with a handshake, whose results do not say of what type they are. */
  #isLegacy = false;
  /** Notifications since the last answer: some servers answer them too. */
  #notifications = 0;
  #noise = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The last text that was no message, of those that came while a caller waited; empty where there was none. */
  get noise(): string {
    return showStart(this.#noise, this.#redactor);
  }

  /** Called with each message before it is sent. */
  noteSent(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    const { method, params } = message;
    if (method === "notifications/cancelled") this.forget(params?.["requestId"] as RequestId);
    if (!("id" in message)) {
      this.#notifications += 1;
      return;
    }
    const { id } = message;
    // What came before it was a question of which protocol the server speaks.
    if (method === "initialize") {
      this.#waiting.clear();
      this.#isLegacy = true;
    }
    if (this.#waiting.size === 0) this.#noise = "";
    if (method === "tools/list" && params?.["cursor"] === undefined) this.list.begin();
    if (typeof id === "number") this.#lastId = Math.max(this.#lastId, id);
    const key = asObject((params as JsonObject | undefined)?.["_meta"])[CALL_KEY];
    this.#waiting.set(String(id), { id, method, ...(typeof key === "string" ? { key } : {}) });
  }

  /** The key of the call in whose stream a request of the server came. Undefined: it is not known. */
  takeAskedDuring(id: RequestId): string | undefined {
    const key = this.#askedDuring.get(String(id));
    this.#askedDuring.delete(String(id));
    return key;
  }

  /** No caller waits for its answer any more. */
  forget(id: RequestId): void {
    this.#waiting.delete(String(id));
    for (const suspicion of this.#suspicions) {
      if (suspicion.waiting.delete(String(id))) this.#narrow(suspicion);
    }
  }

  /** Delivers what stands in `text`. `of` is the request that it must answer, where the transport knows it. */
  hear(text: string, of?: RequestId): Heard {
    let read: Json;
    try {
      read = parseExact(text.replace(/^\uFEFF/, ""));
    } catch (error) {
      return this.#hearBroken(text, of, error instanceof NumberTooLarge ? error.message : "it is no JSON");
    }
    const heard = (Array.isArray(read) ? read : [read]).map((value) => this.#hearOne(value, text, of));
    if (heard.includes("answer")) return "answer";
    return heard.includes("message") ? "message" : this.#hearNoise(text);
  }

  /** The answer to a request cannot be read. */
  fail(id: RequestId, why: string, text: string): void {
    const asked = this.#waiting.get(String(id));
    if (asked !== undefined) this.#answer(asked, toUnreadable(asked, { why, shown: showStart(text, this.#redactor) }));
  }

  #hearOne(value: Json, text: string, of: RequestId | undefined): Heard {
    if (!isJsonObject(value)) return "noise";
    const { id, method, params, result, error } = tidy(value) as JsonObject;
    if (typeof method === "string") {
      if (!("jsonrpc" in value)) return "noise";
      const during = this.#askedBy(of)?.key;
      if (id !== undefined && during !== undefined) this.#askedDuring.set(String(id), during);
      const parts = { ...(id === undefined ? {} : { id }), ...(params === undefined ? {} : { params }) };
      this.deliver({ jsonrpc: "2.0", method, ...parts } as JSONRPCMessage);
      return "message";
    }
    if (!isMeantAsAnswer(value)) return "noise";
    const asked = this.#askedBy(id ?? (error === undefined ? undefined : of));
    if (asked !== undefined) this.#answer(asked, this.#read(asked, { result, error, text }));
    else if (id === undefined && this.#notifications > 0) this.#notifications -= 1;
    else if (!this.#isLate(id)) this.#suspect(`its id is ${writeExact(id ?? null)}`, text);
    return "answer";
  }

  #read(
    asked: Asked,
    { result, error, text }: { readonly result?: Json; readonly error?: Json; readonly text: string },
  ): JSONRPCMessage {
    const { id, method } = asked;
    if (error !== undefined) return { jsonrpc: "2.0", id, error: readError(error) };
    const checked = method === "tools/list" && isJsonObject(result) ? this.list.check(result) : result;
    const why = findFlaw(method, checked);
    if (why !== undefined) return toUnreadable(asked, { why, shown: showStart(text, this.#redactor) });
    // A result that says nothing is complete.
    const typed = this.#isLegacy ? checked : { resultType: "complete", ...asObject(checked) };
    return { jsonrpc: "2.0", id, result: typed ?? {} } as JSONRPCMessage;
  }

  #answer({ id }: Asked, message: JSONRPCMessage): void {
    this.#noise = "";
    this.#notifications = 0;
    this.forget(id);
    this.deliver(message);
  }

  #hearBroken(text: string, of: RequestId | undefined, why: string): Heard {
    if (!LIKE_A_MESSAGE.test(text)) return this.#hearNoise(text);
    const [, written] = LEADING_ID.exec(text.slice(0, SHOWN_PART)) ?? TRAILING_ID.exec(text.slice(-SHOWN_PART)) ?? [];
    const asked = this.#askedBy(of) ?? this.#askedBy(written);
    if (asked === undefined) this.#suspect(why, text);
    else this.fail(asked.id, why, text);
    return "answer";
  }

  #hearNoise(text: string): Heard {
    if (text.trim() !== "") this.#noise = text.slice(0, SHOWN_PART);
    return "noise";
  }

  #suspect(why: string, text: string): void {
    if (this.#suspicions.size >= MAX_SUSPICIONS) return;
    const suspicion = { waiting: new Set(this.#waiting.keys()), why, text: text.slice(0, SHOWN_PART) };
    this.#suspicions.add(suspicion);
    this.#narrow(suspicion);
  }

  #narrow(suspicion: Suspicion): void {
    const { waiting, why, text } = suspicion;
    if (waiting.size > 1) return;
    const blame = () => {
      this.#suspicions.delete(suspicion);
      for (const id of waiting) this.fail(id, why, text);
    };
    if (waiting.size === 1) setTimeout(blame, GRACE_MS).unref();
    else this.#suspicions.delete(suspicion);
  }

  #askedBy(id: Json | undefined): Asked | undefined {
    return id === undefined ? undefined : this.#waiting.get(String(id));
  }

  /** It answers a request that was given up. */
  #isLate(id: Json | undefined): boolean {
    return id !== undefined && Number(id) >= 0 && Number(id) <= this.#lastId;
  }
}

/** A line of a log may have such a part too, but not these alone. */
function isMeantAsAnswer(value: JsonObject): boolean {
  if ("jsonrpc" in value) return ["id", "result", "error"].some((key) => key in value);
  const isPlain = Object.keys(value).every((key) => ["id", "result", "error"].includes(key));
  return isPlain && "id" in value && ("result" in value || "error" in value);
}

/** Parts that are no part of the protocol: a null in them is a value. */
const AS_SENT: ReadonlySet<string> = new Set([
  "arguments",
  "data",
  "inputSchema",
  "outputSchema",
  "requestedSchema",
  "structuredContent",
]);
/** The protocol's own parts nest less deeply. */
const MAX_LEVELS = 20;

/** Without the parts that are null. The protocol's own numbers are doubles, as any program gets them. */
function tidy(value: Json, level = 0): Json {
  if (level > MAX_LEVELS) return value;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map((part) => tidy(part, level + 1));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(kept.map(([key, part]) => [key, AS_SENT.has(key) ? part : tidy(part, level + 1)]));
}

function readError(error: Json): { code: number; message: string; data?: unknown } {
  const { code, message, data } = isJsonObject(error) ? error : { message: error };
  const said = typeof message === "string" ? message : writeExact(error);
  const known = typeof code === "number" && Number.isSafeInteger(code) ? code : INTERNAL_ERROR;
  return { code: known, message: said, ...(data === undefined ? {} : { data }) };
}

const INTERNAL_ERROR = -32_603;

const RESULT_TYPES: ReadonlyMap<string, SpecTypeName> = new Map([
  ["initialize", "InitializeResult"],
  ["tools/list", "ListToolsResult"],
  ["tools/call", "CallToolResult"],
]);

/** Why a result cannot be that of its method. */
function findFlaw(method: string, result: Json | undefined): string | undefined {
  if (result === undefined && method === "ping") return undefined;
  if (!isJsonObject(result)) return "its result is no object";
  if (result["resultType"] === "input_required") return undefined;
  if (method === "tools/call") {
    const { content, structuredContent, isError, resultType } = result;
    if (content === undefined && structuredContent === undefined && isError !== true) return "it has no content";
    // Revisions that say of what type a result is allow any value.
    const isAny = structuredContent === undefined || isJsonObject(structuredContent) || resultType !== undefined;
    if (!isAny) return "its structured content is no object";
  }
  const type = RESULT_TYPES.get(method);
  return type === undefined ? undefined : findSpecFlaw(type, result);
}

function toUnreadable(
  { id, method }: Asked,
  { why, shown }: { readonly why: string; readonly shown: string },
): JSONRPCMessage {
  const said = shown === "" ? "nothing came" : `${why}: ${writeExact(shown)}`;
  return {
    jsonrpc: "2.0",
    id,
    error: { code: UNREADABLE, message: `its answer to \`${method}\` cannot be read (${said})` },
  };
}
