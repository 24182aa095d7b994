import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  type Server,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { CancellablePosts, SESSION } from "./cancellable-posts.ts";
import { HeldSessions } from "./held-sessions.ts";
import { watchList } from "./watch-list.ts";

/** One request over HTTP. A server is made for each. */
export interface McpRequest<Caller> {
  readonly caller: Caller;
  /** The client has said that it wants no answer any more; one that has only hung up has not. */
  readonly cancelled: AbortSignal | undefined;
  /** The sets of tools that it asks for: `/mcp?tools=runs,costs`. */
  readonly toolsets: string | undefined;
}

export interface McpHandlerOptions<Caller> {
  /** Made anew for each request. */
  createServer(request: McpRequest<Caller>): Server;
  /** The tools of who asks, for those who listen for changes. Absent: they do not change. */
  lookAtTools?(request: McpRequest<Caller>): Promise<string>;
  readonly maxBodyBytes: number;
  log(line: string): void;
}

/** MCP of both eras over HTTP, for callers who have been let in. */
export class McpHandler<Caller extends { readonly id: string }> {
  readonly #handler: ReturnType<typeof createMcpHandler>;
  readonly #posts: CancellablePosts;
  readonly #held = new HeldSessions();
  readonly #createServer: McpHandlerOptions<Caller>["createServer"];
  readonly #look: McpHandlerOptions<Caller>["lookAtTools"];
  /** The library hands one thing through to the maker of a server: what it takes for proof of who asks. */
  readonly #requests = new WeakMap<AuthInfo, McpRequest<Caller>>();
  /** It has no such thing for who listens. */
  readonly #asking = new AsyncLocalStorage<McpRequest<Caller>>();

  constructor({ createServer, lookAtTools, maxBodyBytes, log }: McpHandlerOptions<Caller>) {
    this.#createServer = createServer;
    this.#look = lookAtTools;
    this.#posts = new CancellablePosts(
      maxBodyBytes,
      (session, caller) => this.#held.find(session, caller) !== undefined,
    );
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        const request = authInfo && this.#requests.get(authInfo);
        if (request === undefined) throw new Error("A request came past its handler.");
        return createServer(request);
      },
      { onerror: (error) => log(error.message), ...(lookAtTools && { bus: this.#toBus(lookAtTools) }) },
    );
  }

  fetch(request: Request, caller: Caller): Promise<Response> {
    return this.#posts.fetch(request, caller.id, async (forwarded, { cancelled, ...body }) => {
      const authInfo: AuthInfo = { token: "", clientId: caller.id, scopes: [] };
      const toolsets = new URL(request.url).searchParams.get("tools") ?? undefined;
      const asked = { caller, cancelled, toolsets };
      const lasting = this.#find(forwarded, asked) ?? this.#begin(asked, body.parsedBody);
      if (lasting !== undefined) return (await lasting).handleRequest(forwarded, body);
      this.#requests.set(authInfo, asked);
      return this.#asking.run(asked, () => this.#handler.fetch(forwarded, { authInfo, ...body }));
    });
  }

  /** The session of a client of 2025. One that opens its stream is told of changes until it closes it. */
  #find({ method, headers, signal }: Request, request: McpRequest<Caller>) {
    const held = this.#held.find(headers.get(SESSION), request.caller.id);
    const look = this.#look;
    if (held !== undefined && method === "GET" && look !== undefined) {
      const tell = () => void held.server.sendToolListChanged().catch(() => undefined);
      signal.addEventListener(
        "abort",
        watchList(() => look(request), tell),
        { once: true },
      );
    }
    return held?.transport;
  }

  #begin(request: McpRequest<Caller>, body: unknown) {
    if (!isInitializeRequest(body)) return undefined;
    return this.#held.begin(this.#createServer(request), request.caller.id).then(({ transport }) => transport);
  }

  /** Each who listens is told of changes of what it may see, which another process may have made. */
  #toBus(look: (request: McpRequest<Caller>) => Promise<string>): ServerEventBus {
    return {
      publish: () => undefined,
      subscribe: (tell) => {
        const request = this.#asking.getStore();
        if (request === undefined) return () => undefined;
        return watchList(
          () => look(request),
          () => tell({ kind: "tools_list_changed" }),
        );
      },
    };
  }

  /** Breaks off what is under way, subscriptions too. */
  async close(): Promise<void> {
    this.#posts.close();
    await this.#held.close();
    await this.#handler.close();
  }
}
