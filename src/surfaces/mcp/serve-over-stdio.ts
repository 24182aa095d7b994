import { once } from "node:events";
import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { ProtocolErrorCode, type Server, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { unmark } from "../../core/long-integers.ts";
import { markMessage } from "../../core/marked-json.ts";
import { ARGUMENTS } from "./cancellable-posts.ts";

export interface StdioOptions {
  /** Made anew for each connection. */
  createServer(): Server;
  log(line: string): void;
  readonly stop: AbortSignal;
}

/** Speaks MCP over stdin and stdout until stdin ends, as it does when the other program is gone, or `stop` aborts. */
export async function serveOverStdio({ createServer, log, stop }: StdioOptions): Promise<void> {
  const handle = serveStdio(createServer, { transport: new ExactTransport(), onerror: (error) => log(error.message) });
  try {
    await Promise.race([once(process.stdin, "close", { signal: stop }), once(process.stdin, "end", { signal: stop })]);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    await handle.close();
    // Left open it would keep the process.
    process.stdin.destroy();
  }
}

/** The SDK's own, which parses inside: arguments of tools are marked before it and exact behind it. */
class ExactTransport extends StdioServerTransport {
  constructor() {
    super(process.stdin.pipe(markLines((refusal) => process.stdout.write(`${refusal}\n`))));
  }

  override start(): Promise<void> {
    const { onmessage } = this;
    this.onmessage = (message) => onmessage?.(unmark(message));
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
