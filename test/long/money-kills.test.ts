import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../end-to-end/support/application.ts";
import { startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";
import { KilledServer } from "../faults/service/killed-server.ts";
import { noneIsLeft } from "../sandbox/marked-processes.ts";
import { Random } from "../simulation/random.ts";

const SEED = Number(process.env["PAWL_SEED"] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env["PAWL_KILLS"] ?? 40);
const RUNS_OF_EACH = 70;
const MAX_COST_USD = 5;

const SCREEN = {
  name: "screen",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "sh" } },
      transitions: [{ condition: { success: true }, next_state: "say" }],
    },
    say: {
      action: { tool: "send_input", params: { session_id: "{session_id}", input_text: "echo so''-5\n" } },
      transitions: [{ condition: { success: true }, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "so-5", timeout: 20 } },
      transitions: [{ condition: { success: true }, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } }, transitions: [] },
  },
};

const INPUTS: Readonly<Record<string, object>> = {
  fan: { n: 1, items: ["a", "b", "c"] },
  pair: { message: "Go." },
};

/** A call costs $0.0099, and a quarter of a dollar at most. */
const FILES = (model: string) => ({
  "workflows/fan.yaml": `
name: fan
default_model: "fake:one"
steps:
  - {id: find, prompt: "Find {input.n}."}
  - {id: each, depends_on: [find], parallel_over: input.items, prompt: "Do {item}."}
`,
  "workflows/states.yaml": `
workflowId: states
startAt: ask
steps:
  ask: {type: llm, target: {prompt: "What?", model: "fake:one"}, transitions: {onSuccess: again}}
  again: {type: llm, target: {prompt: "And then?", model: "fake:one"}, transitions: {end: true}}
`,
  "workflows/screen.json": JSON.stringify(SCREEN),
  "agents.json": JSON.stringify({
    clients: [],
    agents: ["One", "Two"].map((name) => ({ name, client_ids: [], system_prompt: "Go on.", model: "fake:one" })),
    workflows: [{ name: "pair", steps: ["One", "Two"] }],
  }),
  "pawl.yaml": `
agent: { provider: inline }
server: { rate_limit_per_minute: 0 }
models:
  prices: { "fake:one": { input: 3, output: 15 } }
  providers: { fake: { kind: openai-compatible, base_url: "${model}" } }
`,
});

test(`a server that is killed ${KILLS} times ends no run for money that was hardly spent (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const model = await startFakeModelServer({
    replies: async () => {
      await setTimeout(random.int(10, 120));
      return { do: "say", text: "Done.", usage: { input: 300, output: 600 } };
    },
    keepsRequests: false,
  });
  onTestFinished(() => model.close());
  const mark = `pawl-money-kills-${process.pid}`;
  const server = new KilledServer({ cwd: application(FILES(model.url)), env: { PAWL_TEST_MARK: mark } });
  await server.start();

  const ids: string[] = [];
  const submit = async (workflow: string) => {
    for (let n = 0; n < RUNS_OF_EACH; n += 1) {
      const input = INPUTS[workflow] ?? {};
      ids.push(await submitOne(server, { workflow, input, max_cost_usd: MAX_COST_USD }, `${workflow}-${n}`));
    }
  };
  const work = Promise.all(["fan", "states", "screen", "pair"].map(submit));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await setTimeout(random.int(100, 700));
    await server.kill();
    await server.start();
  }
  await work;

  const ends = new Map<string, number>();
  for (const id of ids) {
    const run = await ended(server, id);
    // A terminal dies with its server, and what may have been typed is never typed twice.
    const isTerminalGone = run.workflow_name === "screen" && run.status === "failed";
    const end = isTerminalGone
      ? "completed"
      : run.status === "completed"
        ? run.status
        : `${run.workflow_name} ${run.status} ${run.error?.message}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  expect(await server.stop()).toBe(0);
  await noneIsLeft(mark);
  expect(Object.fromEntries(ends)).toEqual({ completed: 4 * RUNS_OF_EACH });
});

async function submitOne(server: KilledServer, body: object, key: string): Promise<string> {
  for (;;) {
    const { response } = await server.post("/workflows/run", body, { "idempotency-key": key });
    const { data, error } = (await response.json()) as {
      readonly data: { readonly run_id: string } | null;
      readonly error: { readonly code: string } | null;
    };
    if (data !== null) return data.run_id;
    // What a connection that broke has left behind is still being answered.
    expect(error).toMatchObject({ code: "IDEMPOTENCY_IN_FLIGHT" });
    await setTimeout(20);
  }
}

async function ended(server: KilledServer, id: string) {
  for (;;) {
    const run = (await server.get(`/runs/${id}`)) as {
      readonly status: string;
      readonly workflow_name: string;
      readonly error: { readonly code: string; readonly message: string } | null;
    };
    if (!["queued", "running"].includes(run.status)) return run;
    await setTimeout(50);
  }
}
