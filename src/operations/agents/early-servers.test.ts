import { expect, test } from "vitest";
import { openToolbox } from "../../../test/fakes/mcp-server/open-toolbox.ts";
import { fakeSettings } from "../../../test/fakes/mcp-server/server-entries.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import { compileText } from "../definitions/compile-text.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";
import { EarlyServers } from "./early-servers.ts";

test("servers that are to start early follow the definitions: they come, change and go with them", async () => {
  const { toolbox } = openToolbox({}, { idleMs: 100 });
  const early = new EarlyServers({ toolbox: async () => toolbox });
  const statesNow = async () => (await toolbox.states()).map(({ server, state }) => `${server} ${state}`);

  await early.update([await definition({ one: "eager", two: "lazy" })]);
  await expect.poll(statesNow).toEqual(["one ready"]);

  await early.update([await definition({ one: "lazy", two: "eager" })]);
  await expect.poll(statesNow).toEqual(expect.arrayContaining(["two ready"]));
  await expect.poll(statesNow).not.toContain("one ready");

  await early.update([]);
  await expect.poll(statesNow).not.toContain("two ready");
});

/** A file of agents with these servers. */
async function definition(starts: Readonly<Record<string, "eager" | "lazy">>): Promise<RegisteredDefinition> {
  const clients = Object.entries(starts).map(([name, start]) => ({
    client_id: name,
    ...fakeSettings([`tools=${name}`], { start }),
  }));
  const text = JSON.stringify({ clients, agents: [{ name: "A" }], workflows: [{ name: "W", steps: ["A"] }] });
  const compiled = await compileText(text, { source: "agents.json", grant: EVERYTHING, folders: [] });
  return { name: "W", file: "/app/agents.json", report: { definition: compiled, problems: [] } };
}
