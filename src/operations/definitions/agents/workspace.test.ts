import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { application } from "../../../../test/end-to-end/support/application.ts";
import { findRegistered, listRegistered } from "../registry.ts";

const json = (value: unknown) => JSON.stringify(value);

const PROJECT = {
  "alpha/.aurite": `[aurite]\ntype = "project"\ninclude_configs = ["config"]\n`,
  "alpha/config/agents/writers.json": json([
    {
      type: "agent",
      name: "Writer",
      llm_config_id: "fast",
      mcp_servers: ["weather", "planner"],
      system_prompt: "Write.",
    },
  ]),
  "alpha/config/models.yaml": "- {type: llm, name: fast, provider: openai, model: gpt-5-mini, temperature: 0.2}\n",
  "alpha/config/servers.json": json([{ type: "mcp_server", name: "weather", server_path: "servers/weather.py" }]),
  "alpha/config/flows.json": json([
    { type: "linear_workflow", name: "Report", steps: ["Writer", "Critic", "Editor"] },
    { type: "linear_workflow", name: "Twice", steps: ["Report", { name: "Report", type: "workflow" }] },
  ]),
  "alpha/config/notes.yaml": "colours: [red, green]\n",
};
const WORKSPACE = {
  ...PROJECT,
  ".aurite": `[aurite]\ntype = "workspace"\ninclude_configs = ["shared"]\nprojects = ["./alpha", "beta"]\n`,
  "shared/critic.json": json([{ type: "agent", name: "Critic", model: "anthropic:claude-haiku-4-5" }]),
  "shared/servers.json": json([{ type: "mcp_server", name: "planner", server_path: "tools/plan.py" }]),
  "beta/.aurite": `[aurite]\ntype = "project"\n`,
  "beta/config/editor.json": json([
    { type: "agent", name: "Editor", model: "openai:gpt-5-mini", mcp_servers: ["spell"] },
    { type: "agent", name: "Writer", model: "openai:another" },
    { type: "mcp_server", name: "spell", server_path: "spell.py" },
  ]),
};

describe("a workspace of many files", () => {
  test("is one: agents, models and servers are found by name, its own first, then shared ones, then those of other projects", async () => {
    const root = application(WORKSPACE);
    const found = await findRegistered({ appDir: join(root, "alpha") }, "Report");
    expect(found?.report.problems).toEqual([]);
    const graph = found?.report.definition?.graph;
    const text = json(graph?.flow.steps);
    for (const part of ["Write.", "openai:gpt-5-mini", '"temperature":0.2', "anthropic:claude-haiku-4-5"])
      expect(text).toContain(part);
    expect(text).not.toContain("openai:another");
    expect(graph?.settings["mcp_servers"]).toMatchObject({
      weather: { server_path: join(root, "alpha/servers/weather.py") },
      planner: { server_path: join(root, "tools/plan.py") },
      spell: { server_path: join(root, "beta/spell.py") },
    });
  });

  test("registers the workflows of its files, and passes over what holds no components", async () => {
    const registered = await listRegistered({ appDir: join(application(WORKSPACE), "alpha") });
    expect(registered.map(({ name, report }) => [name, report.problems])).toEqual([
      ["Report", []],
      ["Twice", []],
    ]);
  });

  test("says which names it has not", async () => {
    const root = application(PROJECT);
    const found = await findRegistered({ appDir: join(root, "alpha") }, "Report");
    const names = ["Writer", "Critic", "Editor"].map((name) => `Workflow 'Report' references unknown agent '${name}'`);
    expect(found?.report.problems.map(({ message }) => message)).toEqual(names);
    // It names a server that only the workspace has.
    expect(found?.report.problems[0]?.remedy).toMatch(/^config\/agents\/writers\.json has problems/);
  });

  test("points to the file of an agent that cannot be used", async () => {
    const root = application(WORKSPACE);
    writeFileSync(join(root, "shared/critic.json"), json([{ type: "agent", name: "Critic", llm_config_id: "gone" }]));
    const found = await findRegistered({ appDir: join(root, "alpha") }, "Report");
    expect(found?.report.problems).toMatchObject([
      { code: "AGENT_UNKNOWN", remedy: expect.stringMatching(/^\.\.\/shared\/critic\.json has problems/) },
    ]);
  });

  test("needs its anchor", async () => {
    const root = application(WORKSPACE);
    rmSync(join(root, "alpha/.aurite"));
    expect(await listRegistered({ appDir: join(root, "alpha") })).toEqual([]);
  });

  test("whose anchor is no TOML is refused with its place", async () => {
    const root = application({ ".aurite": "[aurite\n" });
    await expect(listRegistered({ appDir: root })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(join(root, ".aurite")),
    });
  });
});
