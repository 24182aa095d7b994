import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { application } from "../../../test/end-to-end/support/application.ts";
import { loadConfig } from "../../config/load-config.ts";
import { AgentCatalog } from "./agent-catalog.ts";

const agentsFile = (...names: readonly string[]) =>
  JSON.stringify({ agents: names.map((name) => ({ name, client_ids: [] })) });

async function catalogOf(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const appDir = application(files);
  const catalog = new AgentCatalog({ appDir, config: await loadConfig({ appDir, flags: {}, environment }) });
  const write = (file: string, text: string) => writeFileSync(join(appDir, file), text);
  return { appDir, catalog, write, find: (name: string) => catalog.find(name) };
}

describe("an agent that is asked for again", () => {
  test("is not compiled again, also by many at once", async () => {
    const { find } = await catalogOf({ "agents.json": agentsFile("Weather Agent", "Other") });
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => find("Weather Agent")));
    for (const other of [...others, await find("Weather Agent")]) expect(other.definition).toBe(first?.definition);
    expect((await find("Other")).definition).not.toBe(first?.definition);
  });

  test("is what its file says now", async () => {
    const { find, write } = await catalogOf({ "agents.json": agentsFile("Weather Agent") });
    const { definition } = await find("Weather Agent");
    write("agents.json", agentsFile("Weather Agent", "Second"));
    expect((await find("Weather Agent")).definition).not.toBe(definition);
    expect((await find("Second")).definition.graph.name).toBe("Second");
    await expect(find("Third")).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
  });

  test("stays what it was while its file is broken, and goes with its file", async () => {
    const { appDir, find, write } = await catalogOf({ "agents.json": agentsFile("Weather Agent") });
    await find("Weather Agent");
    write("agents.json", '{"agents": [');
    expect((await find("Weather Agent")).definition.graph.name).toBe("Weather Agent");
    rmSync(join(appDir, "agents.json"));
    await expect(find("Weather Agent")).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
  });
});

describe("a file that has never been right", () => {
  test("is told by the agents that it names, and by all where it cannot be read", async () => {
    const { find, write } = await catalogOf({
      "agents.json": JSON.stringify({ agents: [{ name: "A" }], workflows: [{ name: "W", steps: ["Nobody"] }] }),
      ".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.",
    });
    await expect(find("A")).rejects.toMatchObject({
      code: "DEFINITION_INVALID",
      message: "agents.json has 1 problem.",
    });
    await expect(find("B")).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
    write("agents.json", '{"agents": [{"name": "A" "client_ids": []}]}');
    await expect(find("B")).rejects.toMatchObject({
      code: "DEFINITION_INVALID",
      details: { problems: [{ code: "JSON_SYNTAX", place: { line: 1, column: 26 } }] },
    });
    // Other files go on.
    expect((await find("helper")).definition.graph.name).toBe("helper");
    write("agents.json", agentsFile("A"));
    expect((await find("A")).definition.graph.name).toBe("A");
  });

  test("and one that is configured and missing is told at once", async () => {
    const { find } = await catalogOf({}, { HOST_CONFIG_PATH: "conf/host.json" });
    await expect(find("A")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });
});

test("Markdown beside the agents that has no settings is passed over", async () => {
  const { find } = await catalogOf({
    ".claude/agents/README.md": "# Our agents\n\nRead me.",
    ".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.",
  });
  expect((await find("helper")).definition.graph.name).toBe("helper");
  await expect(find("README")).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
});
