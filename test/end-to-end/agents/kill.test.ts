import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Play } from "../../fakes/model-server/fake-model-server.ts";
import type { ModelRequest } from "../../fakes/model-server/model-reply.ts";
import { playScript } from "../../fakes/model-server/play-script.ts";
import { saidIn } from "../../fakes/model-server/shown.ts";
import { pawl, type RunningPawl, startPawl } from "../support/pawl.ts";
import { processesOf } from "./processes-of.ts";
import { FINAL, WEATHER_AND_PLAN, WORKFLOW, weatherApplication } from "./weather-application.ts";

const RUN = ["run", `agents.json#${WORKFLOW}`, "-i", "message=What about Paris?", "--json"];
const TILL = readFileSync(new URL("../../fixtures/agents/till.py", import.meta.url), "utf8");
const TILL_FILES = {
  "till/till.py": TILL,
  "till.json": JSON.stringify({
    clients: [{ client_id: "till", server_path: "till/till.py" }],
    agents: [{ name: "Cashier", model: "fake:haiku", system_prompt: "You charge cards." }],
    workflows: [{ name: "Pay", steps: ["Cashier"] }],
  }),
};
const PAY = ["run", "till.json#Pay", "-i", "message=Charge 5.", "--json"];

test("a host that is killed at every turn of its agents goes on where it was, and asks nothing twice", async () => {
  const script = playScript({ turns: WEATHER_AND_PLAN });
  const seen = new Set<string>();
  let host: RunningPawl | undefined;
  const replies: Play = (request, index) => {
    const turn = turnOf(request);
    if (seen.has(turn)) return script(request, index);
    seen.add(turn);
    host?.kill("SIGKILL");
    return { do: "hang" };
  };
  const { folder, model } = await weatherApplication({ replies });

  host = startPawl(RUN, { cwd: folder });
  let kills = 0;
  for (let ended = await host.ended; ended.code === null; ended = await host.ended) {
    kills += 1;
    host = startPawl(["runs", "resume", "--all", "--json"], { cwd: folder });
  }

  expect(kills).toBe(4);
  // Each turn was cut off once, then answered; none that was answered has been asked for again.
  expect(model.requests.map(turnOf)).toEqual([...seen].flatMap((turn) => [turn, turn]));
  expect(await finalOf(folder)).toMatchObject({ final_message: FINAL });
  await expect.poll(() => processesOf(folder)).toEqual([]);
});

test("a tool that was at work when the host was killed is not called again; the agent is told", async () => {
  const { folder, model } = await weatherApplication({ files: TILL_FILES, replies: chargeOnce() });
  writeFileSync(join(folder, "till", "hold"), "");

  const host = startPawl(PAY, { cwd: folder });
  await expect.poll(() => callsIn(folder)).toHaveLength(1);
  host.kill("SIGKILL");
  await host.ended;
  rmSync(join(folder, "till", "hold"));
  await pawl(["runs", "resume", "--all"], { cwd: folder });

  expect(callsIn(folder)).toHaveLength(1);
  expect(lastSaid(model.requests)).toMatch(/outcome of this call is unknown/);
  expect(await finalOf(folder)).toMatchObject({ final_message: "Nobody knows.", status: "completed" });
  await expect.poll(() => processesOf(folder)).toEqual([]);
});

test("a tool server that is killed in the middle of a call ends the call, not the run", async () => {
  const { folder, model } = await weatherApplication({ files: TILL_FILES, replies: chargeOnce() });
  writeFileSync(join(folder, "till", "hold"), "");

  const host = startPawl(PAY, { cwd: folder });
  await expect.poll(() => callsIn(folder)).toHaveLength(1);
  process.kill(Number(callsIn(folder)[0]?.split(" ")[1]), "SIGKILL");
  const { code, stdout } = await host.ended;

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: { outputs: { final_message: "Nobody knows." } } });
  expect(callsIn(folder)).toHaveLength(1);
  expect(model.requests.at(-1)?.shown.messages.at(-1)?.results).toMatchObject([{ isError: true }]);
  await expect.poll(() => processesOf(folder)).toEqual([]);
});

test("a model that is gone for a while is waited for", async () => {
  const script = playScript({ turns: WEATHER_AND_PLAN });
  const { folder, model } = await weatherApplication({
    replies: (request, index) => (index === 1 ? { do: "leave", ms: 1_500 } : script(request, index)),
  });

  const { code, stdout } = await pawl(RUN, { cwd: folder });

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: { outputs: { final_message: FINAL } } });
  expect(model.requests).toHaveLength(WEATHER_AND_PLAN.length + 1);
});

/** Which agent is asked, and how far it is. */
function turnOf({ shown }: ModelRequest): string {
  return `${shown.system.slice(0, 20)} ${shown.messages.length}`;
}

/** Asks for one charge, and says in the end what it has heard of it. */
function chargeOnce(): Play {
  return playScript({
    turns: [
      { when: { results: 0 }, call: { name: "charge", input: { amount: 5 } } },
      { when: { last: "charge: done" }, say: "It is paid." },
      { when: { results: 1 }, say: "Nobody knows." },
    ],
  });
}

function lastSaid(requests: readonly ModelRequest[]): string {
  const last = requests.at(-1);
  return last === undefined ? "" : (saidIn(last.shown).at(-1) ?? "");
}

function callsIn(folder: string): readonly string[] {
  const log = join(folder, "till", "calls.log");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
}

async function finalOf(folder: string): Promise<unknown> {
  const show = async (...args: readonly string[]) => {
    const { stdout } = await pawl(["runs", ...args, "--json"], { cwd: folder });
    return JSON.parse(stdout).data;
  };
  const { items } = await show("ls");
  return (await show("show", items[0].run_id)).outputs;
}
