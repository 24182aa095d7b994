import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ModelScript, playScript } from "../../fakes/model-server/play-script.ts";
import { saidIn } from "../../fakes/model-server/shown.ts";
import { pawl } from "../support/pawl.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { processesOf } from "./processes-of.ts";
import { weatherApplication } from "./weather-application.ts";

const TILL = readFileSync(new URL("../../fixtures/agents/till.py", import.meta.url), "utf8");
const FILES = {
  "till/till.py": TILL,
  "agents.json": JSON.stringify({
    clients: [{ client_id: "till", server_path: "till/till.py" }],
    agents: [{ name: "Cashier", model: "fake:haiku", system_prompt: "You charge cards.", approve: ["charge"] }],
    workflows: [{ name: "Pay", steps: ["Cashier"] }],
  }),
};
const PAY = ["run", "Pay", "-i", "message=Charge 5.", "--json"];
const TURNS: ModelScript["turns"] = [
  { when: { results: 0 }, call: { name: "charge", input: { amount: 5 } } },
  { when: { last: "charge: done" }, say: "It is paid." },
  { when: { last: "not allowed this call" }, say: "Then not." },
  { when: { last: "outcome of this call is unknown" }, say: "Nobody knows." },
];

async function till() {
  const { folder, model } = await weatherApplication({ files: FILES, replies: playScript({ turns: TURNS }) });
  // The example's own file has been put there meanwhile.
  writeFileSync(join(folder, "agents.json"), FILES["agents.json"]);
  return { folder, model, in: { cwd: folder } };
}

function callsIn(folder: string): readonly string[] {
  const log = join(folder, "till", "calls.log");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
}

test("from the command line: the run waits, a person changes the arguments, and it goes on", async () => {
  const { folder, model, ...options } = await till();

  const asked = await pawl(PAY, options.in);
  expect(asked.code).toBe(6);
  expect(callsIn(folder)).toEqual([]);
  const list = await pawl(["approvals", "ls", "--json"], options.in);
  const [question] = JSON.parse(list.stdout).data.items;
  expect(question).toMatchObject({ message: expect.stringContaining('"charge" of the server "till"') });
  const approved = await pawl(["approve", question.run_id, "--edit", '{"amount": 4}', "--comment", "less"], options.in);
  expect(approved.code).toBe(0);
  await pawl(["runs", "resume", "--all"], options.in);

  expect(callsIn(folder)).toHaveLength(1);
  expect(saidIn(model.requests.at(-1)?.shown ?? { system: "", messages: [], tools: [] }).at(-1)).toContain(
    '{"amount":4}',
  );
  const { stdout } = await pawl(["runs", "show", question.run_id, "--json"], options.in);
  expect(JSON.parse(stdout).data).toMatchObject({
    status: "completed",
    outputs: { final_message: "It is paid." },
    steps: [{ step_id: "Cashier", attempt: 1 }, {}],
  });
});

test("over HTTP, with the server killed while the question is open, and again right after the answer", async () => {
  const { folder, model, ...options } = await till();
  const kill = async (server: RunningServer) => {
    server.kill("SIGKILL");
    await server.ended;
  };

  const first = await startServer([], options.in);
  const body = JSON.stringify({ initial_user_message: "Charge 5." });
  const waiting = await fetch(`${first.url}/workflows/Pay/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(waiting.status).toBe(202);
  const { run_id } = (await waiting.json()) as { readonly run_id: string };
  await kill(first);

  const second = await startServer([], options.in);
  const open = (await (await fetch(`${second.url}/approvals`)).json()) as {
    readonly data: { readonly items: readonly { readonly approval_id: string }[] };
  };
  expect(open.data.items).toMatchObject([{ run_id, allow_edit: true }]);
  const id = encodeURIComponent(open.data.items[0]?.approval_id ?? "");
  writeFileSync(join(folder, "till", "hold"), "");
  const answer = () =>
    fetch(`${second.url}/approvals/${id}/approve`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
  expect((await answer()).status).toBe(200);
  // The tool is at work.
  await expect.poll(() => callsIn(folder)).toHaveLength(1);
  expect((await answer()).status).toBe(409);
  await kill(second);
  rmSync(join(folder, "till", "hold"));

  const third = await startServer([], options.in);
  const run = async () => (await (await fetch(`${third.url}/runs/${run_id}`)).json()) as { readonly data: object };
  await expect
    .poll(async () => (await run()).data)
    .toMatchObject({
      status: "completed",
      outputs: { final_message: "Nobody knows." },
    });
  expect(callsIn(folder)).toHaveLength(1);
  // The turn that asked for the tool is paid once.
  expect(model.requests).toHaveLength(2);
  third.kill("SIGTERM");
  await third.ended;
  await expect.poll(() => processesOf(folder)).toEqual([]);
});

test("an answer that has been taken is kept, though the server is killed at once", async () => {
  const { folder, model, ...options } = await till();
  await pawl(PAY, options.in);
  const first = await startServer([], options.in);
  const { data } = (await (await fetch(`${first.url}/approvals`)).json()) as {
    readonly data: { readonly items: readonly { readonly approval_id: string; readonly run_id: string }[] };
  };
  const [{ approval_id = "", run_id = "" } = {}] = data.items;
  await fetch(`${first.url}/approvals/${encodeURIComponent(approval_id)}/reject`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  first.kill("SIGKILL");
  await first.ended;

  await pawl(["runs", "resume", "--all"], options.in);
  const { stdout } = await pawl(["runs", "show", run_id, "--json"], options.in);
  expect(JSON.parse(stdout).data).toMatchObject({ status: "completed", outputs: { final_message: "Then not." } });
  expect(callsIn(folder)).toEqual([]);
  expect(model.requests.length).toBeLessThanOrEqual(3);
});
