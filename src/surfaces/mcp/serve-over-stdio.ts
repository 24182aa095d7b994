import { once } from "node:events";
import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { ProtocolErrorCode, type Server, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Json } from "../../core/json.ts";
import { unmark } from "../../core/long-integers.ts";
import { markMessage } from "../../core/marked-json.ts";
import { ARGUMENTS } from "./cancellable-posts.ts";
import { type Marks, tellBy, Watched } from "./watched.ts";

export interface StdioOptions {
  /** Made anew for each connection. */
  createServer(watched: Watched | undefined): Server;
  /** Absent: nothing changes. */
  readonly marks?: Marks | undefined;
  log(line: string): void;
  readonly stop: AbortSignal;
}

/** Speaks MCP over stdin and stdout until stdin ends, as it does when the other program is gone, or `stop` aborts. */
export async function serveOverStdio({ createServer, marks, log, stop }: StdioOptions): Promise<void> {
  const watched = marks && new Watched(marks);
  const begin = () => {
    const server = createServer(watched);
    watched?.watch(tellBy(server));
    return server;
  };
  const handle = serveStdio(begin, { transport: new ExactTransport(watched), onerror: (error) => log(error.message) });
  try {
    await Promise.race([once(process.stdin, "close", { signal: stop }), once(process.stdin, "end", { signal: stop })]);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    watched?.close();
    await handle.close();
    // Left open it would keep the process.
    process.stdin.destroy();
  }
}

/** The SDK's own, which parses inside: arguments of tools are marked before it and exact behind it. */
class ExactTransport extends StdioServerTransport {
  readonly #watched: Watched | undefined;

  constructor(watched: Watched | undefined) {
    super(process.stdin.pipe(markLines((refusal) => process.stdout.write(`${refusal}\n`))));
    this.#watched = watched;
  }

  override start(): Promise<void> {
    const { onmessage } = this;
    let turn = Promise.resolve();
    this.onmessage = (message) => {
      const take = async () => {
        // What came as JSON is JSON.
        const refusal = await this.#watched?.follow(message as Json);
        if (refusal === undefined) onmessage?.(unmark(message));
        else await this.send(refusal);
      };
      turn = turn.then(take).catch((error) => this.onerror?.(error));
    };
    return super.start();
  }
}

function markLines(refuse: (answer: string) => void): Transform {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = decoder.write(chunk).split("\n");
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const marked = markMessage(line, ARGUMENTS, ProtocolErrorCode.ParseError);
        if ("text" in marked) this.push(`${marked.text}\n`);
        else refuse(marked.refusal);
      }
      // The SDK refuses a message that is longer.
      if (rest.length > STDIO_DEFAULT_MAX_BUFFER_SIZE) {
        this.push(rest);
        rest = "";
      }
      done();
    },
  });
}
