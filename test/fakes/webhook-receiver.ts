import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface ReceivedWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = (answer: ServerResponse, received: ReceivedWebhook) => void;

export function answerWith(status: number, headers: Record<string, string> = {}, body = ""): Reply {
  return (answer) => answer.writeHead(status, headers).end(body);
}

/** Somebody elsewhere, over real HTTP on loopback. Ends with its test. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** What the next requests are answered, one after another; then 204. */
  readonly replies: Reply[] = [];
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async listen(): Promise<WebhookReceiver> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const receiver = new WebhookReceiver((server.address() as AddressInfo).port);
    server.on("request", async (request, answer) => {
      const { method = "", url: path = "" } = request;
      const received = { method, path, headers: request.headers, body: await text(request) };
      receiver.received.push(received);
      (receiver.replies.shift() ?? answerWith(204))(answer, received);
    });
    return receiver;
  }

  url(path = "/hook"): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get first(): ReceivedWebhook {
    const [first] = this.received;
    if (first === undefined) throw new Error("Nothing has been received.");
    return first;
  }

  get ids(): readonly unknown[] {
    return this.received.map(({ headers }) => headers["webhook-id"]);
  }
}
