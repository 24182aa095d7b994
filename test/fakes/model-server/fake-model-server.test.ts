import { expect, onTestFinished, test } from "vitest";
import { createModels } from "../../../src/executors/models/create-models.ts";
import { startFakeModelServer } from "./fake-model-server.ts";

const KINDS = ["anthropic", "openai", "google", "openai-compatible"] as const;

for (const kind of KINDS) {
  test(`${kind}: a stream says the same as a document`, async () => {
    const usage = { input: 90, output: 12, cached: 40 };
    const server = await startFakeModelServer({ replies: [{ do: "say", text: "Hello there.", usage }] });
    onTestFinished(() => server.close());
    const model = await openModel(kind, server.url);
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];

    const whole = await model.doGenerate({ prompt });
    const { stream } = await model.doStream({ prompt });
    let streamed = "";
    const ends: unknown[] = [];
    for await (const part of stream) {
      if (part.type === "text-delta") streamed += part.delta;
      if (part.type === "finish") ends.push(part);
    }

    expect(whole.content).toMatchObject([{ type: "text", text: "Hello there." }]);
    expect(streamed).toBe("Hello there.");
    expect(whole.usage.inputTokens).toMatchObject({ total: 90, cacheRead: 40 });
    expect(ends).toMatchObject([{ finishReason: { unified: "stop" }, usage: { outputTokens: { total: 12 } } }]);
  });
}

async function openModel(kind: (typeof KINDS)[number], url: string) {
  const models = createModels({
    aliases: {},
    providers: { fake: { kind, base_url: url, api_key: "any" } },
    prices: {},
    keys: {},
    folder: "/",
    env: () => undefined,
  });
  const model = await models.resolve("fake:some-model");
  return model.open({ stepId: "a", path: "a", attempt: 1, format: "text" });
}
