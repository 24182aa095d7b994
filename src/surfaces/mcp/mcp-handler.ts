import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  type Server,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { CancellablePosts, type Forwarded, SESSION } from "./cancellable-posts.ts";
import { type Held, HeldSessions } from "./held-sessions.ts";
import { type Marks, tellBy, Watched } from "./watched.ts";

/** One request over HTTP. A server is made for each. */
export interface McpRequest<Caller> {
  readonly caller: Caller;
  /** The client has said that it wants no answer any more; one that has only hung up has not. */
  readonly cancelled: AbortSignal | undefined;
  /** The sets of tools that it asks for: `/mcp?tools=runs,costs`. */
  readonly toolsets: string | undefined;
  /** Of the session that it begins. */
  readonly watched?: Watched | undefined;
}

export interface McpHandlerOptions<Caller> {
  /** Made anew for each request. */
  createServer(request: McpRequest<Caller>): Server;
  /** What who asks may see, for those who listen for changes, which another process may have made. Absent: nothing changes. */
  marksFor?(request: McpRequest<Caller>): Marks;
  readonly maxBodyBytes: number;
  log(line: string): void;
}

/** MCP of both eras over HTTP, for callers who have been let in. */
export class McpHandler<Caller extends { readonly id: string }> {
  readonly #handler: ReturnType<typeof createMcpHandler>;
  readonly #posts: CancellablePosts;
  readonly #held = new HeldSessions();
  readonly #createServer: McpHandlerOptions<Caller>["createServer"];
  readonly #marksFor: McpHandlerOptions<Caller>["marksFor"];
  /** The library hands one thing through to the maker of a server: what it takes for proof of who asks. */
  readonly #requests = new WeakMap<AuthInfo, McpRequest<Caller>>();
  /** It has no such thing for who listens. */
  readonly #listening = new AsyncLocalStorage<Watched>();

  constructor({ createServer, marksFor, maxBodyBytes, log }: McpHandlerOptions<Caller>) {
    this.#createServer = createServer;
    this.#marksFor = marksFor;
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
      { onerror: (error) => log(error.message), bus: this.#toBus() },
    );
  }

  fetch(request: Request, caller: Caller): Promise<Response> {
    return this.#posts.fetch(request, caller.id, async (forwarded, { cancelled, ...body }) => {
      const authInfo: AuthInfo = { token: "", clientId: caller.id, scopes: [] };
      const toolsets = new URL(request.url).searchParams.get("tools") ?? undefined;
      const asked = { caller, cancelled, toolsets };
      const watched = this.#marksFor && new Watched(this.#marksFor(asked));
      const named = forwarded.headers.get(SESSION);
      if (this.#held.hasEnded(named)) return new Response(null, { status: 404 });
      const lasting = this.#held.find(named, caller.id) ?? this.#begin({ ...asked, watched }, body.parsedBody);
      if (lasting !== undefined) return answerIn(await lasting, forwarded, body);
      this.#requests.set(authInfo, asked);
      const answer = () => this.#handler.fetch(forwarded, { authInfo, ...body });
      if (watched === undefined) return answer();
      const refusal = await watched.follow(body.parsedBody);
      return refusal === undefined ? this.#listening.run(watched, answer) : Response.json(refusal);
    });
  }

  #begin(request: McpRequest<Caller>, body: unknown) {
    if (!isInitializeRequest(body)) return undefined;
    return this.#held.begin(this.#createServer(request), request.caller.id, request.watched);
  }

  /** Each who listens is told of changes of what it may see. */
  #toBus(): ServerEventBus {
    return {
      publish: () => undefined,
      subscribe: (tell) => this.#listening.getStore()?.watch(tell) ?? (() => undefined),
    };
  }

  /** Breaks off what is under way, subscriptions too. */
  async close(): Promise<void> {
    this.#posts.close();
    await this.#held.close();
    await this.#handler.close();
  }
}

/** A client of 2025 that opens the stream of its session is told of changes until it closes it. */
async function answerIn({ transport, server, watched }: Held, request: Request, body: Forwarded): Promise<Response> {
  const response = await transport.handleRequest(request, body);
  if (request.method === "GET" && response.ok && watched !== undefined)
    request.signal.addEventListener("abort", watched.watch(tellBy(server)), { once: true });
  return response;
}
