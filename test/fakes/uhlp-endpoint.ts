import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

interface EndpointRequest {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
}

export interface FakeEndpoint {
  readonly url: string;
  readonly origin: string;
  /** What was asked, in order. */
  readonly requests: readonly EndpointRequest[];
  readonly headers: readonly IncomingMessage["headers"][];
}

type Answer = (request: EndpointRequest, response: ServerResponse) => void;

/** A UHLP tool endpoint on a port of its own, closed when the test ends. */
export async function startEndpoint(answer: Answer): Promise<FakeEndpoint> {
  const requests: EndpointRequest[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer((incoming, response) => {
    const answered = json(incoming).then((body) => {
      const request = body as EndpointRequest;
      requests.push(request);
      headers.push(incoming.headers);
      answer(request, response);
    });
    answered.catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, origin, requests, headers };
}

/** Answers with a JSON text. */
export function answerJson(value: unknown, status = 200): Answer {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
}
