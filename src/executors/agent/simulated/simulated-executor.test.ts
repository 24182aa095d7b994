import { describe, expect, test } from "vitest";
import { type Purse, withPurse } from "../../../../test/fakes/purse.ts";
import { agentTask } from "../../../../test/fakes/sandstorm/agent-task.ts";
import type { JsonObject } from "../../../core/json.ts";
import { readAgentScript } from "../../../dialects/agent-script/agent-script.ts";
import type { Outcome, Task } from "../../../ports/executor.ts";
import { createSimulatedExecutor, type SimulatedOptions } from "./simulated-executor.ts";

const SCHEMA = {
  type: "object",
  properties: { score: { type: "integer" } },
  required: ["score"],
  additionalProperties: false,
};
const NEVER = new AbortController().signal;

async function run(
  over: {
    input?: JsonObject;
    task?: Partial<Task> & Purse;
    options?: SimulatedOptions;
    script?: string;
    signal?: AbortSignal;
  } = {},
): Promise<Outcome> {
  const script = await readAgentScript(over.script ?? "{}", "script.yaml");
  const executor = createSimulatedExecutor({ delayFactor: 0, script, ...over.options });
  return executor.run(withPurse(agentTask(over.input, over.task)), over.signal ?? NEVER);
}

describe("made-up answers", () => {
  test("without a schema the answer is text, with cost and usage", async () => {
    expect(await run()).toEqual({
      status: "succeeded",
      output: expect.stringContaining("Acme"),
      costMicro: expect.any(Number),
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        num_turns: expect.any(Number),
        duration_ms: 0,
      },
    });
  });

  test("with a schema the answer fits it", async () => {
    expect(await run({ input: { output_schema: SCHEMA } })).toMatchObject({ output: { score: expect.any(Number) } });
  });

  test("equal questions get equal answers", async () => {
    expect(await run()).toEqual(await run());
  });

  test("opus costs more than haiku", async () => {
    const cost = async (model: string) =>
      (await run({ input: { model }, script: "steps: {score: {reply: same, turns: 1}}" })).costMicro ?? 0;
    expect(await cost("claude-opus-4")).toBeGreaterThan(await cost("claude-haiku-4-5"));
  });

  test("a schema that nothing can be made up for fails and says what to do", async () => {
    const outcome = await run({ input: { output_schema: { type: "string", pattern: "^[XYZ]{9}$" } } });
    expect(outcome).toMatchObject({
      code: "OUTPUT_INVALID",
      retryable: false,
      message: expect.stringContaining("Script a reply"),
    });
  });

  test("a schema that cannot be used fails", async () => {
    expect(await run({ input: { output_schema: { type: "nothing" } } })).toMatchObject({ code: "SCHEMA_INVALID" });
  });

  test("the delay is plausible, scaled, and none at 0", async () => {
    const delays: number[] = [];
    const wait = async (delayMs: number) => void delays.push(delayMs);
    await run({ options: { delayFactor: 2, wait } });
    await run({ options: { delayFactor: 0, wait } });
    expect(delays).toEqual([expect.toSatisfy((ms: number) => ms >= 600 && ms <= 3_000)]);
  });

  test("the log is that of a Sandstorm server", async () => {
    const task = agentTask();
    await createSimulatedExecutor({ delayFactor: 0 }).run(task, NEVER);
    expect(task.logged.map((event) => event["type"])).toEqual(["system", "assistant", "result"]);
  });
});

describe("stopping", () => {
  test("a waiting answer stops when it is aborted", async () => {
    const controller = new AbortController();
    const pending = run({ options: { delayFactor: 1_000 }, signal: controller.signal });
    controller.abort();
    expect(await pending).toMatchObject({ code: "INTERRUPTED", effect: "none", costMicro: 0 });
  });

  test("one that hangs does too", async () => {
    expect(await run({ script: "steps: {score: {hang: true}}", signal: AbortSignal.timeout(20) })).toMatchObject({
      code: "INTERRUPTED",
    });
  });

  test("one that is aborted beforehand says nothing", async () => {
    expect(await run({ signal: AbortSignal.abort() })).toMatchObject({ code: "INTERRUPTED" });
  });

  test("an answer that costs more than is left is not asked for", async () => {
    expect(await run({ task: { maxCostMicro: 10 } })).toMatchObject({ code: "BUDGET_EXCEEDED", costMicro: 0 });
  });
});

describe("scripts", () => {
  test("tries follow the list, and the last entry repeats", async () => {
    const script = `
      steps:
        score:
          - {fail: AGENT_STREAM_CUT, message: cut, cost_usd: 0.01}
          - {reply: {score: 5}, cost_usd: 0.02, turns: 4}`;
    const attempt = (n: number) => run({ script, task: { attempt: n }, input: { output_schema: SCHEMA } });
    expect(await attempt(1)).toEqual({
      status: "failed",
      code: "AGENT_STREAM_CUT",
      message: "cut",
      retryable: true,
      effect: "unknown",
      costMicro: 10_000,
    });
    expect(await attempt(2)).toMatchObject({ output: { score: 5 }, costMicro: 20_000, usage: { num_turns: 4 } });
    expect(await attempt(9)).toMatchObject({ output: { score: 5 } });
  });

  const names = `
    steps:
      score: {reply: step}
      "score[3]": {reply: instance}
      "batch[2]/score[3]": {reply: path}
      poll: {reply: any visit}
      "poll#2": {reply: second visit}
      list: {items: [{reply: first}, [{fail: AGENT_FAILED}, {reply: second}]]}`;
  const table: readonly (readonly [Partial<Task>, unknown])[] = [
    [{ path: "score" }, "step"],
    [{ path: "score[2]" }, "step"],
    [{ path: "score[3]" }, "instance"],
    [{ path: "batch[1]/score[3]" }, "instance"],
    [{ path: "batch[2]/score[3]" }, "path"],
    [{ stepId: "poll", path: "poll#1" }, "any visit"],
    [{ stepId: "poll", path: "poll#2" }, "second visit"],
    [{ stepId: "list", path: "list[0]" }, "first"],
    [{ stepId: "list", path: "list[1]", attempt: 2 }, "second"],
    [{ stepId: "list", path: "list[7]" }, expect.stringContaining("Acme")],
    [{ stepId: "unnamed", path: "unnamed" }, expect.stringContaining("Acme")],
  ];
  for (const [task, output] of table) {
    test(`${task.path}, try ${task.attempt ?? 1}`, async () =>
      expect(await run({ script: names, task })).toMatchObject({ output }));
  }

  test("a reply goes through the same checks as a real one", async () => {
    const answer = (reply: string) =>
      run({ script: `steps: {score: {reply: ${reply}}}`, input: { output_schema: SCHEMA } });
    expect(await answer("{score: high}")).toMatchObject({ code: "OUTPUT_INVALID", retryable: true });
    expect(await answer("'```json {\"score\": 1} ```'")).toMatchObject({ output: { score: 1 } });
    expect(await answer('""')).toMatchObject({ code: "OUTPUT_EMPTY" });
  });

  test("failures are retryable and have an effect as their code suggests, unless the script says otherwise", async () => {
    const fail = (entry: string) => run({ script: `steps: {score: ${entry}}` });
    expect(await fail("{fail: AGENT_UNAUTHORIZED}")).toMatchObject({ retryable: false, effect: "none", costMicro: 0 });
    expect(await fail("{fail: AGENT_UNREACHABLE}")).toMatchObject({ retryable: true, effect: "none" });
    expect(await fail("{fail: MY_CODE, retryable: false, effect: done, cost_usd: null}")).toMatchObject({
      code: "MY_CODE",
      retryable: false,
      effect: "done",
      costMicro: null,
    });
  });

  test("scripted delays are not scaled", async () => {
    const delays: number[] = [];
    const wait = async (delayMs: number) => void delays.push(delayMs);
    const script = "{delay_ms: 30, steps: {score: {reply: x, delay_ms: 20}}}";
    await run({ script, options: { delayFactor: 5, wait } });
    await run({ script, options: { delayFactor: 5, wait }, task: { stepId: "other", path: "other" } });
    expect(delays).toEqual([20, 30]);
  });
});
