import { expect, test } from "vitest";
import { OpenStreams } from "../open-streams.ts";
import { answerEventStream, type SentEvent } from "./event-stream.ts";

test("an event that comes while its client leaves is no defect, and the stream is counted out once", async () => {
  const happened = Promise.withResolvers<void>();
  async function* events(): AsyncGenerator<SentEvent> {
    await happened.promise;
    yield { event: "late", data: {} };
  }
  const streams = new OpenStreams();
  const defects: unknown[] = [];
  const { body } = answerEventStream({ streams, onDefect: (error) => defects.push(error) }, events);
  const reader = body?.getReader();
  await reader?.read();
  const reading = reader?.read();
  // The stream asks for the event before the client leaves.
  await turns(3);
  const leaving = reader?.cancel();
  happened.resolve();
  await Promise.all([leaving, reading]);
  await turns(3);
  expect({ defects, open: streams.open }).toEqual({ defects: [], open: 0 });
});

async function turns(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await new Promise((resolve) => setImmediate(resolve));
}
