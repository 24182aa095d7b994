import { type AuthInfo, createMcpHandler, type Server } from "@modelcontextprotocol/server";
import { CancellablePosts } from "./cancellable-posts.ts";

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
  readonly maxBodyBytes: number;
  log(line: string): void;
}

/** MCP of both eras over HTTP, for callers who have been let in. */
export class McpHandler<Caller extends { readonly id: string }> {
  readonly #handler: ReturnType<typeof createMcpHandler>;
  readonly #posts: CancellablePosts;
  /** The library hands one thing through to the maker of a server: what it takes for proof of who asks. */
  readonly #requests = new WeakMap<AuthInfo, McpRequest<Caller>>();

  constructor({ createServer, maxBodyBytes, log }: McpHandlerOptions<Caller>) {
    this.#posts = new CancellablePosts(maxBodyBytes);
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        const request = authInfo && this.#requests.get(authInfo);
        if (request === undefined) throw new Error("A request came past its handler.");
        return createServer(request);
      },
      { onerror: (error) => log(error.message) },
    );
  }

  fetch(request: Request, caller: Caller): Promise<Response> {
    return this.#posts.fetch(request, caller.id, (forwarded, { cancelled, ...body }) => {
      const authInfo: AuthInfo = { token: "", clientId: caller.id, scopes: [] };
      const toolsets = new URL(request.url).searchParams.get("tools") ?? undefined;
      this.#requests.set(authInfo, { caller, cancelled, toolsets });
      return this.#handler.fetch(forwarded, { authInfo, ...body });
    });
  }

  /** Breaks off what is under way, subscriptions too. */
  async close(): Promise<void> {
    this.#posts.close();
    await this.#handler.close();
  }
}
