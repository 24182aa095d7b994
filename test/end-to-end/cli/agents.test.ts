import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const AGENTS = { agents: [{ name: "Writer", description: "Writes.", model: "mock" }] };

test("agents are listed, shown and checked", async () => {
  const cwd = application({ "agents.json": JSON.stringify(AGENTS) });
  const ask = (...args: readonly string[]) => pawl(["agents", ...args], { cwd });
  expect(await ask("ls")).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/Writer +mock.*Writes/) });
  expect(await ask("show", "Writer")).toMatchObject({ code: 0, stdout: expect.stringMatching(/model +mock/) });
  expect(await ask("show", "nobody")).toMatchObject({ code: 5, stderr: expect.stringContaining("AGENT_NOT_FOUND") });
  expect(await ask("validate")).toMatchObject({ code: 0, stdout: "agents.json is valid: 1 agents, 0 workflows.\n" });
});

test("a file of agents with problems is told, and its problems are shown", async () => {
  const cwd = application({ "agents.json": '{ "agents": [{ "name": [] }] }' });
  const listed = await pawl(["agents", "ls"], { cwd });
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining("agents.json has problems") });
  const checked = await pawl(["agents", "validate", "--json"], { cwd });
  expect(checked.code).toBe(3);
  expect(JSON.parse(checked.stdout)).toMatchObject({ data: [{ file: "agents.json", valid: false }] });
});
