import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { mcpTask } from "../../../../test/fakes/mcp-server/mcp-task.ts";
import { openPool } from "../../../../test/fakes/mcp-server/open-pool.ts";
import { fakeSettings } from "../../../../test/fakes/mcp-server/server-entries.ts";
import { type FakeModelOptions, startFakeModelServer } from "../../../../test/fakes/model-server/fake-model-server.ts";
import { saidIn } from "../../../../test/fakes/model-server/shown.ts";
import { type Purse, withPurse } from "../../../../test/fakes/purse.ts";
import { readEntries } from "../../../config/read-mcp-servers.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { readAgentScript } from "../../../dialects/agent-script/agent-script.ts";
import type { Asks, Outcome, Task } from "../../../ports/executor.ts";
import { JsonSchemas } from "../../../schemas/json-schemas.ts";
import { createCoreTools } from "../../core-tools/core-tools.ts";
import { createGenerate } from "../../llm/generate.ts";
import { createMcpExecutor } from "../../mcp/mcp-executor.ts";
import { UhlpEndpoint } from "../../mcp/uhlp-endpoint.ts";
import { createModels } from "../../models/create-models.ts";
import { McpServers } from "../mcp-servers.ts";

const NEVER = new AbortController().signal;
const ERAS = ["legacy", "2026-07-28"];
const SAMPLE = { messages: [{ role: "user", content: { type: "text", text: "Sum up." } }], maxTokens: 100 };
const SUMMED = {
  role: "assistant",
  content: { type: "text", text: "All is well." },
  model: "anthropic:claude-haiku-4-5",
};

/** A step that calls a tool of a server, whose model is asked over real HTTP. */
async function openStep(
  protocol: string,
  { sampling = "allow" as Json, ...over }: Partial<FakeModelOptions> & { readonly sampling?: Json } = {},
) {
  const model = await startFakeModelServer({ replies: [], ...over });
  onTestFinished(() => model.close());
  const provider = { kind: "anthropic" as const, base_url: model.url, api_key: "sk-any" };
  const models = createModels({
    default: "anthropic:claude-haiku-4-5",
    aliases: {},
    providers: { anthropic: provider, local: { ...provider, kind: "openai-compatible" } },
    prices: {},
    keys: {},
    folder: "/",
    readScript: readAgentScript,
    env: () => undefined,
  });
  const generate = createGenerate({ models, repairs: 0 });
  const folder = mkdtempSync(join(tmpdir(), "pawl-sampling-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { API_KEY: "s3cret-of-it" };
  const servers = new McpServers({
    folder,
    env: () => undefined,
    entries: () =>
      readEntries({ it: fakeSettings([], { protocol, env, ...(sampling === null ? {} : { sampling }) }) }, "a test"),
    pool: openPool(),
    timeoutMs: 10_000,
    generate,
  });
  const executor = createMcpExecutor({
    servers,
    coreTools: createCoreTools({
      folder,
      forbidden: [],
      files: () => Promise.reject(new Error("no files here")),
      configuration: {},
      generate,
      runCommand: undefined,
    }),
    endpoint: new UhlpEndpoint({ configured: undefined, allowed: [] }),
    validators: new JsonSchemas(),
  });
  const records = new Map<string, Json>();
  const paid: (number | null)[] = [];
  const events: Json[] = [];
  const run = (args: JsonObject = {}, more: Partial<Task> & Purse = {}): Promise<Outcome | Asks> => {
    const { task } = mcpTask({ tool: "sum_up", server: "it", arguments: args });
    const keeping = {
      ...task,
      emit: (told: Parameters<Task["emit"]>[0]) => void (told.type === "log" && events.push(told.event)),
      record: async (key: string, value: Json) => void records.set(key, value),
      recorded: async (key: string) => records.get(key),
      ...more,
    };
    return executor.run(withPurse(keeping, paid), NEVER);
  };
  return { run, requests: model.requests, paid, events, records, marker: join(folder, "dies") };
}

const say = (text: string, more: object = {}) => ({ do: "say" as const, text, ...more });
const asking = (text: string) => ({ ...SAMPLE, messages: [{ role: "user", content: { type: "text", text } }] });

describe.each(ERAS)("a server (%s) that has a model asked", (era) => {
  test("is given the answer, which the step pays, and the model gets what the server has sent, and no more", async () => {
    const { run, requests, paid, events } = await openStep(era, { replies: [say("All is well.")] });
    const messages = [
      { role: "user", content: { type: "text", text: "One. My key is s3cret-of-it." } },
      { role: "assistant", content: [{ type: "text", text: "Two." }] },
      { role: "user", content: { type: "text", text: "Three." } },
    ];
    const asks = [
      {
        messages,
        systemPrompt: "Be brief.",
        maxTokens: 50,
        temperature: 0.5,
        stopSequences: ["STOP"],
        includeContext: "allServers",
      },
    ];
    expect(await run({ asks })).toMatchObject({
      status: "succeeded",
      output: [SUMMED],
      costMicro: 70,
      usage: { input_tokens: 20, output_tokens: 10 },
    });
    expect(paid).toEqual([70]);
    expect(requests[0]?.body).toMatchObject({ max_tokens: 50, temperature: 0.5, stop_sequences: ["STOP"] });
    expect(requests[0]?.shown).toMatchObject({ system: "Be brief.", tools: [] });
    expect(saidIn(requests[0]?.shown ?? expect.fail())).toEqual(["One. My key is [redacted].", "Two.", "Three."]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "sampling", server: "it", tool: "sum_up", input_tokens: 20 }),
    );
  });

  test("is refused where its entry does not say so, and nothing is paid", async () => {
    const { run, requests } = await openStep(era, { sampling: null });
    expect(await run()).toMatchObject({ status: "failed", costMicro: 0 });
    expect(requests).toEqual([]);
  });

  test("gets the answer that was paid before it died, from the next attempt", async () => {
    const { run, requests, paid, marker } = await openStep(era, { replies: [say("All is well.")] });
    writeFileSync(marker, "");
    expect(await run({ dies: marker })).toMatchObject({ status: "failed", workerDied: true, costMicro: 70 });
    expect(existsSync(marker)).toBe(false);
    expect(await run({ dies: marker }, { attempt: 2 })).toMatchObject({ output: [SUMMED], costMicro: 0 });
    expect([requests.length, paid]).toEqual([1, [70]]);
  });

  test("is answered as often and as long as its entry says, by the model that it names", async () => {
    const sampling = { model: "local:small", max_tokens: 7, max_calls: 2 };
    const { run, requests } = await openStep(era, { sampling, replies: [say("a"), say("b"), say("c")] });
    expect(await run({ asks: ["x", "y", "z"].map(asking) })).toMatchObject({ status: "failed", costMicro: null });
    expect(requests.map(({ model, body }) => [model, body["max_tokens"]])).toEqual([
      ["small", 7],
      ["small", 7],
    ]);
  });

  test("is given a text that was cut off at its limit", async () => {
    const { run } = await openStep(era, { replies: [say("All is", { ended: "length" })] });
    expect(await run()).toMatchObject({ output: [{ content: { text: "All is" } }] });
  });

  test("fails the step with what the budget says, which goes on when there is more", async () => {
    const { run, requests } = await openStep(era, { replies: [say("All is well.")] });
    const outcome = await run({}, { maxCostMicro: 1 });
    expect(outcome).toMatchObject({
      code: "BUDGET_EXCEEDED",
      effect: "unknown",
      outspent: { goesOn: true },
      message: 'The MCP server "it" wanted a model\'s answer for its tool `sum_up`. $0.000001 is left.',
    });
    expect(requests).toEqual([]);
    expect(await run()).toMatchObject({ output: [SUMMED] });
  });

  test("fails the step with what the model's provider says, and with a price that is not known under a budget", async () => {
    const refused = await openStep(era, { replies: [{ do: "refuse", status: 400, message: "Not so." }] });
    expect(await refused.run()).toMatchObject({ code: "MODEL_REFUSED", effect: "unknown" });
    const unpriced = await openStep(era, { sampling: { model: "local:small" } });
    expect(await unpriced.run({}, { maxCostMicro: 1_000_000 })).toMatchObject({ code: "PRICE_UNKNOWN" });
    const unknown = await openStep(era, { sampling: { model: "nobody:knows" } });
    expect(await unknown.run()).toMatchObject({ code: expect.stringMatching(/^MODEL_/) });
  });

  test.each([
    [
      "an image",
      { ...SAMPLE, messages: [{ role: "user", content: { type: "image", data: "aa", mimeType: "image/png" } }] },
    ],
    ["too much to read", asking("x".repeat(200_001))],
  ])("is refused where it brings %s", async (_, params) => {
    const { run, requests } = await openStep(era);
    expect(await run({ asks: [params] })).toMatchObject({ status: "failed", costMicro: 0 });
    expect(requests).toEqual([]);
  });
});

test("a program of 2025 that asks while several calls are under way is answered for none, and then for each", async () => {
  const { run, requests } = await openStep("legacy", { replies: () => say("All is well.") });
  const others = (of: string) => ["a", "b", "c"].map((key) => run({}, { idempotencyKey: `${of}:${key}` }));
  await Promise.all(others("first"));
  const asked = requests.length;
  expect((await Promise.all(others("then"))).map(({ status }) => status)).toEqual(Array(3).fill("succeeded"));
  expect(requests.length - asked).toBeLessThanOrEqual(3);
});
