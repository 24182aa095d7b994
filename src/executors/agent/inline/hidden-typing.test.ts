import { expect, test } from "vitest";
import { calls, inlineWorld, say, tool } from "../../../../test/agents/inline-world.ts";
import type { JsonObject } from "../../../core/json.ts";

const OPENED = '{"session_id":"session_1","hidden_prompt":true}';
const TYPED = { session_id: "session_1", input_text: "Zebra-4711\\n", keys: ["Enter"] };
const HIDDEN = { session_id: "session_1", input_text: "[redacted]", keys: ["[redacted]"] };

test("a call that was cut off before it typed something hidden is not made with what stands for it", async () => {
  const typed: JsonObject[] = [];
  const tools = [
    tool("open_terminal", () => OPENED),
    tool("send_input", (input) => {
      typed.push(input);
      return '{"session_id":"session_1"}';
    }),
  ];
  const play = [calls(["open_terminal", {}]), calls(["send_input", TYPED]), say("In."), say("Gone.")];
  const whole = await inlineWorld(play, { tools });
  expect(await whole.ask({})).toMatchObject({ status: "succeeded" });
  expect(typed).toEqual([TYPED]);
  const kept = JSON.stringify([...whole.records, whole.progress]);
  expect(kept).not.toContain("Zebra");
  expect(whole.records.get("turn-2")).toMatchObject({
    parts: expect.arrayContaining([expect.objectContaining({ type: "call", input: HIDDEN })]),
  });

  const next = await inlineWorld([say("I shall type it again.")], { tools });
  for (const key of ["turn-1", "turn-1/call-1/started", "turn-1/call-1/result", "turn-2"])
    next.records.set(key, whole.records.get(key) ?? null);
  expect(await next.ask({}, { attempt: 2 })).toMatchObject({ status: "succeeded" });
  expect(typed).toHaveLength(1);
  expect(JSON.stringify(next.requests[0])).toContain("was not typed. Call the tool again, with the text.");
});

test("what is typed where nothing hidden is asked for is kept", async () => {
  const tools = [tool("open_terminal", () => '{"session_id":"session_1"}'), tool("send_input", () => "ok")];
  const world = await inlineWorld([calls(["open_terminal", {}]), calls(["send_input", TYPED]), say("In.")], { tools });
  await world.ask({});
  expect(world.records.get("turn-2")).toMatchObject({
    parts: expect.arrayContaining([expect.objectContaining({ type: "call", input: TYPED })]),
  });
});
