import {
  type JSONRPCErrorResponse,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import { asObject, type Json } from "../../core/json.ts";

/** What changes without a word: each is another text when what it stands for is another one. */
export interface Marks {
  /** Of the list of tools. Absent: it does not change. */
  tools?(): Promise<string>;
  /** Throws `ResourceNotFoundError`, and `ProtocolError` for one of whose changes nobody is told. */
  resource(uri: string): Promise<string>;
}

/** A change is told within a second. */
const LOOK_EVERY_MS = 500;
/** Each is looked at again and again. */
const MOST_RESOURCES = 50;
const GONE = "";
const UNREADABLE = { code: ProtocolErrorCode.InternalError, message: "What is to be watched cannot be read now." };

/** What one client is told of: its list of tools, and the resources that it has named. */
export class Watched {
  readonly #marks: Marks;
  readonly #resources = new Map<string, string>();
  /** What each message of 2026 has named, by its id. */
  readonly #listening = new Map<Json, readonly string[]>();
  #watching: AbortController | undefined;

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** Whatever changes from now on is told. All of them, or none: throws `ProtocolError` where one is not there, or too many are named. */
  async add(uris: readonly string[]): Promise<void> {
    // A client that names many is refused before anything is read for it.
    this.#refuseMany(uris);
    const found = await Promise.all(uris.map(async (uri) => [uri, await this.#marks.resource(uri)] as const));
    this.#refuseMany(uris);
    for (const [uri, mark] of found) this.#resources.set(uri, mark);
  }

  delete(uri: string): void {
    this.#resources.delete(uri);
  }

  /** Takes what a message of 2026 names, of which servers of the library do not hear. Returns the answer to one that is refused. */
  async follow(message: Json | undefined): Promise<JSONRPCErrorResponse | undefined> {
    const { method, id = null, params } = asObject(message);
    if (method === "notifications/cancelled") this.#leave(asObject(params)["requestId"]);
    if (method !== "subscriptions/listen") return undefined;
    const { resourceSubscriptions: named } = asObject(asObject(params)["notifications"]);
    const uris = Array.isArray(named) ? named.filter((uri) => typeof uri === "string") : [];
    try {
      await this.add(uris);
      this.#listening.set(id, uris);
      return undefined;
    } catch (error) {
      const refusal = error instanceof ProtocolError ? error : UNREADABLE;
      const { code, message: why } = refusal;
      return { jsonrpc: "2.0", id: typeof id === "number" ? id : String(id), error: { code, message: why } };
    }
  }

  #leave(id: Json = null): void {
    const left = this.#listening.get(id) ?? [];
    this.#listening.delete(id);
    const kept = new Set([...this.#listening.values()].flat());
    for (const uri of left) if (!kept.has(uri)) this.delete(uri);
  }

  /** Tells of changes, of resources also those since they were added, in place of whoever did so. Until what is returned is called. */
  watch(tell: (event: ServerEvent) => void): () => void {
    this.#watching?.abort();
    const watching = new AbortController();
    this.#watching = watching;
    let tools: string | undefined;
    const look = async () => {
      // What cannot be read now has not changed.
      const now = await this.#marks.tools?.().catch(() => tools);
      if (watching.signal.aborted) return;
      if (tools !== undefined && now !== tools) tell({ kind: "tools_list_changed" });
      tools = now;
      for (const [uri, before] of this.#resources) {
        const mark = await this.#marks.resource(uri).catch((error) => (isGone(error) ? GONE : before));
        if (watching.signal.aborted) return;
        if (mark === before || this.#resources.get(uri) !== before) continue;
        this.#resources.set(uri, mark);
        tell({ kind: "resource_updated", uri });
      }
      setTimeout(look, LOOK_EVERY_MS).unref();
    };
    void look();
    return () => watching.abort();
  }

  close(): void {
    this.#watching?.abort();
  }

  #refuseMany(uris: readonly string[]): void {
    if (new Set([...this.#resources.keys(), ...uris]).size <= MOST_RESOURCES) return;
    throw unwatched(`A client is told of changes of ${MOST_RESOURCES} resources at most.`);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ResourceNotFoundError;
}

export function unwatched(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** By the server of a client. Who is gone needs no news. */
export function tellBy(server: Server): (event: ServerEvent) => void {
  return (event) => {
    const told =
      event.kind === "resource_updated" ? server.sendResourceUpdated({ uri: event.uri }) : server.sendToolListChanged();
    told.catch(() => undefined);
  };
}

/** Clients of 2025 name resources one by one. Undefined: the session has ended with the process that began it. */
export function addSubscriptions(server: Server, watched: Watched | undefined): void {
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    if (watched === undefined) throw unwatched("This session is over, and tells nothing: begin a new one.");
    await watched.add([uri]);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    watched?.delete(uri);
    return {};
  });
}
