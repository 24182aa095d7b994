import { describe, expect, test } from "vitest";
import { inlineWorld, say, tool } from "../../../../test/agents/inline-world.ts";
import type { SaidReply } from "../../../../test/fakes/model-server/model-reply.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

const FOUND = [{ url: "https://example.com/louvre", title: "The Louvre" }];
const searching = (more: Partial<SaidReply>): SaidReply => {
  return { do: "say", search: { query: "Louvre hours", found: FOUND }, ...more };
};

/** In a request, as the provider defines it. */
const TOOLS = {
  "anthropic:claude-haiku-4-5": { type: "web_search_20250305", name: "web_search", max_uses: 5 },
  "openai:gpt-5-mini": { type: "web_search" },
} as const;

/** The parts of the first turn that are sent with the second. */
const SAID_AGAIN = {
  "anthropic:claude-haiku-4-5": ["server_tool_use", "web_search_tool_result"],
  "openai:gpt-5-mini": ["ws_fake"],
} as const;

describe("an agent that lists `web_search` has the one of its provider", () => {
  for (const [model, definition] of Object.entries(TOOLS)) {
    test(`${model} searches by itself, and what it has found goes into its answer`, async () => {
      const world = await inlineWorld([searching({ text: "It opens at nine." })]);

      const outcome = await world.ask({ model, tools: ["web_search"] });

      expect(world.requests).toHaveLength(1);
      expect(world.requests[0]?.body["tools"]).toEqual([expect.objectContaining(definition)]);
      expect(outcome).toMatchObject({
        status: "succeeded",
        output: {
          // The first text after the search.
          text: "It opens at nine.",
          // Nothing that we have called.
          tool_uses: [],
        },
      });
      const blocks = blocksOf(outcome);
      expect(blocks.map(({ type }) => type)).toEqual(["server_tool_use", "tool_result", "text"]);
      expect(JSON.stringify(blocks)).toContain(FOUND[0]?.url);
      expect(JSON.stringify(blocks)).toContain("Louvre hours");
    });

    test(`${model} gets its own search back when a tool of ours was called in the same turn`, async () => {
      const opened = tool("save", () => "saved");
      const world = await inlineWorld([searching({ calls: [{ name: "save" }] }), say("Kept.")], { tools: [opened] });

      const outcome = await world.ask({ model, tools: ["web_search"] });

      expect(outcome).toMatchObject({
        output: { text: "Kept.", tool_uses: [{ name: "save", output: "saved", is_error: false }] },
      });
      const again = JSON.stringify(world.requests[1]?.body);
      for (const part of SAID_AGAIN[model as keyof typeof SAID_AGAIN]) expect(again).toContain(part);
      // An attempt after a crash sends the same, since the search is on record.
      const resumed = await world.ask({ model, tools: ["web_search"] }, { attempt: 2 });
      expect(resumed).toMatchObject({ output: { text: "Kept." } });
      expect(world.requests).toHaveLength(2);
    });
  }

  test.each([
    ["anthropic:claude-haiku-4-5", { max_uses: 5 }, undefined],
    ["openai:gpt-5-mini", {}, 5],
  ] as const)("%s charges for each search, and is told how many there may be", async (model, definition, most) => {
    const plain = await (await inlineWorld([say("Nine.")])).ask({ model });
    const world = await inlineWorld([searching({ text: "Nine." })]);
    const outcome = await world.ask({ model, tools: ["web_search"] });
    expect((outcome.costMicro ?? 0) - (plain.costMicro ?? 0)).toBe(10_000);
    expect(world.requests[0]?.body["max_tool_calls"]).toBe(most);
    await world.ask({ model, tools: ["web_search"], output_schema: { type: "object" } });
    expect(world.requests.at(-1)?.body["max_tool_calls"]).toBe(most);
    expect(world.requests[0]?.body["tools"]).toEqual([expect.objectContaining(definition)]);
  });

  test("a budget that holds no search in its whole length is not risked", async () => {
    const world = await inlineWorld([searching({ text: "Nine." })]);
    const money = { maxCostMicro: 100_000 };
    const outcome = await world.ask({ model: "anthropic:claude-haiku-4-5", tools: ["web_search"] }, money);
    expect(outcome).toMatchObject({ status: "failed", code: "BUDGET_EXCEEDED" });
    expect(world.requests).toEqual([]);
    // 200,000 tokens that it has found and keeps, five searches, and the shortest answer.
    const enough = { maxCostMicro: 310_000 };
    expect(await world.ask({ model: "anthropic:claude-haiku-4-5", tools: ["web_search"] }, enough)).toMatchObject({
      status: "succeeded",
    });
  });

  test("a provider that has none is a warning in the log, and the agent goes on", async () => {
    const world = await inlineWorld([say("I do not know.")]);

    expect(await world.ask({ model: "local:llama3.2:3b", tools: ["web_search"] })).toMatchObject({
      status: "succeeded",
    });

    expect(JSON.stringify(world.progress)).toContain("has no web search");
    expect(world.requests[0]?.body["tools"]).toBeUndefined();
  });
});

function blocksOf(outcome: object): readonly JsonObject[] {
  const output: Json = (outcome as { readonly output?: Json }).output ?? null;
  const final = isJsonObject(output) ? output["final_response"] : null;
  const content = isJsonObject(final) ? final["content"] : null;
  return Array.isArray(content) ? content.filter((block): block is JsonObject => isJsonObject(block)) : [];
}
