import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../../../test/end-to-end/support/application.ts";
import { openServiceRecords } from "../../app/open-service-records.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { JsonObject } from "../../core/json.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import { AgentCatalog } from "../agents/agent-catalog.ts";
import { compileStart } from "../repeat/compile-start.ts";
import { resolveCall } from "../start/resolve-call.ts";
import { DefinitionLibrary } from "./definition-library.ts";
import { findDefinition } from "./find-definition.ts";
import { findRegistered } from "./registry.ts";

const SUMMARIZE =
  "name: summarize\ninput_schema: {properties: {text: {type: string}}}\nsteps:\n  - {id: a, prompt: hi}\n";
const REVIEWER = "---\nname: reviewer\ndescription: Reviews.\ntools: Read, mcp__github__search\n---\nBe strict.\n";

function agentsFile(...workflows: readonly (readonly [name: string, ...steps: string[]])[]): string {
  return JSON.stringify({
    agents: [{ name: "Weather Agent" }, { name: "Planner" }],
    workflows: workflows.map(([name, ...steps]) => ({ name, steps })),
  });
}

function placesOf(appDir: string) {
  return { appDir, folders: [appDir], maxSteps: 20 };
}

test("each workflow of the agents file is registered by its name", async () => {
  const appDir = application({
    "agents.json": agentsFile(["Plan a day", "Weather Agent", "Planner"], ["Ask", "Planner"]),
  });
  const found = await findRegistered({ appDir }, "Plan a day");
  expect(found?.report.definition?.graph).toMatchObject({ name: "Plan a day", dialect: "agents" });
  expect((await findRegistered({ appDir }, "Ask"))?.file).toBe(join(appDir, "agents.json"));
  expect(await findRegistered({ appDir }, "agents")).toBeUndefined();
});

test("another agents file is the one that the configuration names", async () => {
  const appDir = application({ "config/host.json": agentsFile(["Ask", "Planner"]), "agents.json": agentsFile(["No"]) });
  expect(await findRegistered({ appDir, agentsFile: "config/host.json" }, "Ask")).toBeDefined();
  expect(await findRegistered({ appDir, agentsFile: "config/host.json" }, "No")).toBeUndefined();
});

test("a name in two files is an error that shows both", async () => {
  const appDir = application({ "agents.json": agentsFile(["summarize"]), "workflows/s.yaml": SUMMARIZE });
  await expect(findRegistered({ appDir }, "summarize")).rejects.toMatchObject({
    code: "NAME_TAKEN_TWICE",
    details: { places: ["workflows/s.yaml", "agents.json"] },
  });
});

test("FILE#NAME takes a workflow, else an agent; names may hold `#` themselves", async () => {
  const file = JSON.stringify({ agents: [{ name: "C# Agent" }], workflows: [{ name: "W", steps: ["C# Agent"] }] });
  const appDir = application({ "other/file.json": file });
  const names = async (reference: string) =>
    (await findDefinition(reference, placesOf(appDir))).definition.graph.settings["part"];
  expect(await names("other/file.json#W")).toEqual({ workflow: "W" });
  expect(await names("other/file.json#C# Agent")).toEqual({ agent: "C# Agent" });
  await expect(names("other/file.json#X")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
});

test("several workflows without a choice are told, with their names", async () => {
  const appDir = application({ "agents.json": agentsFile(["One", "Planner"], ["Two", "Planner"]) });
  const asked = findDefinition("agents.json", placesOf(appDir));
  await expect(asked).rejects.toMatchObject({ code: "PART_NOT_CHOSEN", message: expect.stringContaining("One, Two") });
});

test("a step may name a workflow of the application, in any dialect, and is told where there is none", async () => {
  const appDir = application({
    "agents.json": agentsFile(["W", "Planner", "summarize"]),
    "workflows/s.yaml": SUMMARIZE,
  });
  const found = await findRegistered({ appDir }, "W");
  expect(found?.report.definition?.graph.flow.steps.map(({ kind }) => kind)).toEqual(["task", "call", "respond"]);
  rmSync(join(appDir, "workflows/s.yaml"));
  const broken = await findRegistered({ appDir }, "W");
  expect(broken?.report.problems.map(({ message }) => message)).toEqual([
    "Workflow 'W' references unknown agent 'summarize'",
  ]);
  await expect(findDefinition("W", placesOf(appDir))).rejects.toMatchObject({ code: "DEFINITION_INVALID" });
});

test("agents of `.claude/agents` can be named by workflows, and asked alone", async () => {
  const appDir = application({ "agents.json": agentsFile(["W", "reviewer"]), ".claude/agents/r.md": REVIEWER });
  const config = await loadConfig({ appDir, flags: {}, environment: {} });
  expect((await findRegistered({ appDir }, "W"))?.report.definition).toBeDefined();
  const { definition, file } = await new AgentCatalog({ appDir, config }).find("reviewer");
  expect(definition.text).toBe(REVIEWER);
  expect(file).toBe(join(appDir, ".claude/agents/r.md"));
  expect(JSON.stringify(definition.graph)).toContain('"allow":["mcp__github__search"],"tools":["files"]');
  await expect(new AgentCatalog({ appDir, config }).find("reviever")).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
    remedy: 'Did you mean "reviewer"?',
  });
});

test("another process compiles the part that was chosen", async () => {
  const text = agentsFile(["One", "Planner"], ["Two", "Planner"]);
  const appDir = application({ "agents.json": text });
  const config = await loadConfig({ appDir, flags: {}, environment: {} });
  const file = join(appDir, "agents.json");
  const { definition } = await findDefinition("Two", placesOf(appDir));
  const options = { app_dir: appDir, source: file, select: definition.graph.settings["part"] ?? null };
  const sent = await compileStart(
    { appDir, config, records: () => Promise.reject(new Error("There are no runs.")) },
    { text, source: file, options },
  );
  expect(sent.graph).toEqual(definition.graph);
});

test("servers are started from the folder that has their files", async () => {
  const text = JSON.stringify({ clients: [{ client_id: "s", server_path: "servers/s.py" }], agents: [{ name: "A" }] });
  const appDir = application({ "examples/agents.json": text, "examples/servers/s.py": "" });
  const { definition } = await findDefinition("examples/agents.json#A", placesOf(appDir));
  expect(definition.graph.settings["folder"]).toBe(join(appDir, "examples"));
});

test("the library reads the agents file again when it changes, or an agent beside it does", async () => {
  const appDir = application({ "agents.json": agentsFile(["W", "reviewer"]), ".claude/agents/r.md": REVIEWER });
  const library = new DefinitionLibrary({ appDir, maxSteps: 20 });
  await library.refresh();
  const before = library.list().find(({ name }) => name === "W")?.report.definition;
  expect(await library.refresh()).toEqual({ hasChanged: false, broken: [], warnings: [] });
  writeFileSync(join(appDir, ".claude/agents/r.md"), REVIEWER.replace("strict", "kind"));
  expect(await library.refresh()).toMatchObject({ hasChanged: true });
  const after = library.list().find(({ name }) => name === "W")?.report.definition;
  expect(JSON.stringify(before?.graph)).toContain("Be strict.");
  expect(JSON.stringify(after?.graph)).toContain("Be kind.");
  writeFileSync(join(appDir, "agents.json"), agentsFile(["W", "nobody"]));
  expect((await library.refresh()).broken).toMatchObject([{ hasGoodVersion: true }]);
  expect(library.list().map(({ name, report }) => [name, report.definition !== undefined])).toEqual([["W", true]]);
});

test("a workflow that comes later makes a file good that names it", async () => {
  const appDir = application({ "agents.json": agentsFile(["W", "summarize"]) });
  const library = new DefinitionLibrary({ appDir, maxSteps: 20 });
  expect((await library.refresh()).broken).toHaveLength(1);
  mkdirSync(join(appDir, "workflows"));
  writeFileSync(join(appDir, "workflows/s.yaml"), SUMMARIZE);
  expect(await library.refresh()).toMatchObject({ hasChanged: true, broken: [] });
});

test("a message becomes the input that the called workflow declares", async () => {
  const appDir = application({ "agents.json": agentsFile(["W", "Planner"]), "workflows/s.yaml": SUMMARIZE });
  const config = await loadConfig({ appDir, flags: {}, environment: {} });
  const ask = async (workflow: string, message: string) =>
    (
      await resolveCall(
        { appDir, config, service: openService() },
        { workflow, input: { message, session_id: "s" }, terms: { asks: "message" }, grant: EVERYTHING, options: {} },
      )
    ).input;
  expect(await ask("summarize", "A long story.")).toEqual({ text: "A long story." });
  expect(await ask("summarize", ' {"text": "A story."}')).toEqual({ text: "A story." });
  expect(await ask("W", "A long story.")).toEqual({ message: "A long story.", session_id: "s" });
});

test("a step calls what was saved through the service, of its tenant or of the application, and a sent text no file", async () => {
  const appDir = application({ "elsewhere/s.yaml": SUMMARIZE });
  const config = await loadConfig({ appDir, flags: {}, environment: {} });
  const service = openService();
  const { definitions } = await service();
  await definitions.save({ tenantId: "t", name: "summarize", text: SUMMARIZE, at: 0 });
  const call = (workflow: string, tenantId?: string) =>
    resolveCall(
      { appDir, config, service },
      { workflow, input: { text: "x" }, grant: EVERYTHING, options: {}, tenantId },
    );
  expect((await call("summarize", "t")).definition.graph.name).toBe("summarize");
  await expect(call("summarize")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  await expect(call("summarize", "other")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  await expect(call("elsewhere/s.yaml")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  await expect(call("elsewhere/s.yaml", "t")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  await definitions.save({ name: "summarize", text: SUMMARIZE, at: 0 });
  expect((await call("summarize", "other")).definition.graph.name).toBe("summarize");
});

test("data names a file only where definitions are kept, and a sent text no script either", async () => {
  const appDir = application({
    "flows/s.yaml": SUMMARIZE,
    "app/flows/main.yaml": SUMMARIZE,
    "app/flows/s.yaml": SUMMARIZE,
    "app/.hidden/s.yaml": SUMMARIZE,
    "app/pawl.yaml": "models: {}\n",
    "app/secret.txt": "top secret",
    "app/check.py": "def check(): pass\n",
  });
  const app = join(appDir, "app");
  symlinkSync(join(appDir, "flows"), join(app, "link"));
  const config = await loadConfig({ appDir: app, flags: {}, environment: {} });
  const service = openService();
  const call = (workflow: string, isComputed: boolean, source: string | null = join(app, "flows/main.yaml")) => {
    const options: JsonObject = source === null ? {} : { source };
    const asked = { workflow, input: { text: "x" }, grant: EVERYTHING, options, isComputed };
    return resolveCall({ appDir: app, config, service }, asked);
  };
  expect((await call("s.yaml", true)).definition.graph.name).toBe("summarize");
  expect((await call("flows/s.yaml", true)).definition.graph.name).toBe("summarize");
  const outside = ["../../flows/s.yaml", join(appDir, "flows/s.yaml"), "link/s.yaml", ".hidden/s.yaml"];
  for (const path of [...outside, "pawl.yaml", "secret.txt", "../secret.txt", "s.yaml#x\0"]) {
    await expect(call(path, true), path).rejects.toMatchObject({ code: expect.stringMatching(/NOT_FOUND$/) });
  }
  expect((await call("../../flows/s.yaml", false)).definition.graph.name).toBe("summarize");
  const code = "workflowId: c\nstartAt: a\nsteps:\n  a: {type: jit, target: check.py#check}\n";
  await expect(call(code, false, null)).rejects.toMatchObject({ code: "DEFINITION_INVALID" });
});

function openService() {
  const records = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => records.close());
  return async () => records;
}
