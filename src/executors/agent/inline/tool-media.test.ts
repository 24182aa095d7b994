import { describe, expect, test } from "vitest";
import { calls, inlineWorld, say, tool } from "../../../../test/agents/inline-world.ts";
import type { Json } from "../../../core/json.ts";
import { toPrompt } from "./to-prompt.ts";
import { findMedia, toCounted } from "./tool-media.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (data = PIXEL, mimeType = "image/png"): Json => ({ type: "image", mimeType, data });
const SOUND: Json = { type: "audio", mimeType: "audio/wav", data: "UklGRg==" };

/** What a provider is sent after a tool that answers with this content. */
function sentTo(kind: Parameters<typeof toPrompt>[1], content: readonly Json[], { isError = false, turns = 1 } = {}) {
  const call = { type: "call", id: "1", name: "draw", input: {} } as const;
  const result = { call, text: "[image, image/png, 70 bytes, not as text]", isError, media: findMedia(content) };
  const turn = { said: { parts: [call] }, results: [result] };
  const transcript = {
    system: undefined,
    history: [],
    opening: ["Draw."],
    turns: Array.from({ length: turns }, () => turn),
  };
  return toPrompt(transcript as unknown as Parameters<typeof toPrompt>[0], kind).filter(({ role }) => role === "tool");
}

const shownIn = (prompt: ReturnType<typeof sentTo>) => (JSON.stringify(prompt).match(/"type":"file"/g) ?? []).length;

test("a model of Anthropic is sent the image itself, beside the text of the result", async () => {
  const draw = { ...tool("draw", () => ""), call: async () => ({ isError: false, text: "Here.", content: [image()] }) };
  const made = await inlineWorld([calls(["draw", {}]), say("Seen.")], { tools: [draw] });
  expect(await made.ask({})).toMatchObject({ status: "succeeded" });
  expect(JSON.stringify(made.requests.at(-1)?.body)).toContain(PIXEL);
  // Another attempt finds it on record.
  expect(await made.ask({}, { attempt: 2 })).toMatchObject({ status: "succeeded" });
  expect(JSON.stringify(made.requests.at(-1)?.body)).toContain(PIXEL);
});

describe("what a result shows", () => {
  test.each([
    ["anthropic", [image(), SOUND], 1],
    ["openai", [image(), SOUND], 1],
    ["google", [image(), SOUND], 2],
    ["openai-compatible", [image(), SOUND], 0],
    ["anthropic", [{ type: "resource", resource: { uri: "a:b", mimeType: "image/png", blob: PIXEL } }], 1],
    ["anthropic", [image("<script>")], 0],
    ["anthropic", [image(PIXEL, "image/svg+xml")], 0],
    ["anthropic", [image("A".repeat(5 * 1024 * 1024 + 4))], 0],
    ["anthropic", Array.from({ length: 20 }, () => image()), 8],
  ] as const)("to %s", (kind, content, count) => {
    expect(shownIn(sentTo(kind, content))).toBe(count);
  });

  test("is a text where the tool has failed", () => {
    expect(shownIn(sentTo("anthropic", [image()], { isError: true }))).toBe(0);
  });

  test("ends where a conversation has shown 20 MiB, from its beginning on", () => {
    const large = image("A".repeat(4 * 1024 * 1024));
    const [five, six] = [5, 6].map((turns) => sentTo("anthropic", [large], { turns }));
    expect([shownIn(five ?? []), shownIn(six ?? [])]).toEqual([5, 5]);
    expect(six?.slice(0, 5)).toEqual(five);
  });

  test("counts as the tokens of an image, not as its bytes", () => {
    const counted = JSON.stringify(toCounted(sentTo("anthropic", [image("A".repeat(4 * 1024 * 1024))])));
    expect(counted.length).toBeLessThan(10_000);
    expect(counted.length).toBeGreaterThan(8_000);
  });
});
