import { markMessage, type UserFields } from "../../../core/marked-json.ts";
import { MessageLines } from "./message-lines.ts";

/** Implementation-defined, in the range that JSON-RPC leaves to servers. */
export const NUMBER_TOO_LARGE = -32_096;
const VALUES: UserFields = new Set(["structuredContent", "inputSchema", "outputSchema"]);

/** A message of a server for the SDK, which parses it inside. One that has to be refused is the refusal of our request. */
export function markAnswer(message: string): string {
  const marked = markMessage(message, VALUES, NUMBER_TOO_LARGE);
  return "text" in marked ? marked.text : marked.refusal;
}

/** The same for an answer over HTTP: one message, or a stream of events with one in the line of each. */
export async function markResponse(response: Response, maxBytes: number): Promise<Response> {
  const { body, status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  if (!response.ok || body === null) return response;
  if (type.includes("json")) return new Response(markAnswer(await response.text()), { status, statusText, headers });
  if (!type.includes("text/event-stream")) return response;
  const lines = new MessageLines(maxBytes);
  const marked = new TransformStream<Uint8Array, string>({
    transform(chunk, controller) {
      for (const line of lines.push(Buffer.from(chunk)))
        controller.enqueue(`${line.startsWith(DATA) ? DATA + markAnswer(line.slice(DATA.length)) : line}\n`);
    },
  });
  const text = body.pipeThrough(marked).pipeThrough(new TextEncoderStream());
  return new Response(text, { status, statusText, headers });
}

const DATA = "data:";
