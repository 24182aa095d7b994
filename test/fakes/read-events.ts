import { createParser, type EventSourceMessage } from "eventsource-parser";
import { expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";

/** Reads server-sent events until the stream ends, or until what was read is enough. */
export async function readEvents(
  response: Response,
  isEnough: (event: EventSourceMessage) => boolean = () => false,
): Promise<readonly EventSourceMessage[]> {
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const last = events.at(-1);
    if (last !== undefined && isEnough(last)) break;
  }
  return events;
}

export function dataOf(event: EventSourceMessage | undefined): JsonObject {
  return JSON.parse(event?.data ?? "null") as JsonObject;
}
