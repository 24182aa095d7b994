import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  connectTerminal,
  ERAS,
  startHttp,
  type TerminalClient,
  toTerminalClient,
} from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";
import { connectService, endOwner } from "./service-client.ts";

type Era = (typeof ERAS)[number][1];

const GATE = `
name: gate
steps:
  - id: ask
    type: approval
    approval_config: { message: "Go on?" }
`;

/** A client hears of what it has asked for, each as often as it is told. */
interface Listener extends TerminalClient {
  readonly heard: readonly string[];
  /** Asks for resources in the way of its era; what is returned takes it back. */
  watch(...uris: readonly string[]): Promise<() => Promise<unknown>>;
}

function listening(connected: TerminalClient, era: Era): Listener {
  const { client } = connected;
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => void heard.push(uri));
  return {
    ...connected,
    heard,
    async watch(...uris) {
      if (era.mode !== "legacy") {
        const subscription = await client.listen({ resourceSubscriptions: [...uris] });
        return () => subscription.close();
      }
      for (const uri of uris) await client.subscribeResource({ uri });
      return () => Promise.all(uris.map((uri) => client.unsubscribeResource({ uri })));
    },
  };
}

async function connectHttp(url: URL, era: Era, token?: string): Promise<TerminalClient> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: era });
  onTestFinished(() => client.close());
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return toTerminalClient(client, 0);
}

function folder(): string {
  const made = application({ "workflows/gate.yaml": GATE });
  endOwner(made);
  return made;
}

const WAYS = [
  ["pawl mcp", (at: string, era: Era) => connectService(at, era)],
  [
    "/mcp of pawl serve",
    async (at: string, era: Era) => connectHttp(new URL(`${(await startServer([], { cwd: at })).url}/mcp`), era),
  ],
] as const;

describe.each(WAYS)("%s", (_, connect) => {
  test.each(ERAS)(
    "tells a client of %s when a run or a workflow that it has named is another one",
    async (_era, era) => {
      const at = folder();
      const { call, watch, heard, client } = listening(await connect(at, era), era);
      const { run_id } = await call("run_workflow", { workflow_name: "gate", wait: true });
      const run = `run://${run_id}`;
      const stop = await watch(run, "workflow://gate");
      await call("respond_to_run", { run_id: run_id ?? null, answer: "approve" });
      await expect.poll(() => heard, { timeout: 10_000 }).toContain(run);
      expect(heard).not.toContain("workflow://gate");
      const file = join(at, "workflows", "gate.yaml");
      writeFileSync(file, GATE.replace("Go on?", "Go on now?"));
      await expect.poll(() => heard.filter((uri) => uri !== run)).toEqual(["workflow://gate"]);
      rmSync(file);
      await expect.poll(() => heard.filter((uri) => uri !== run)).toHaveLength(2);
      await stop();
      const before = heard.length;
      // Whoever has taken it back hears of the next one alone.
      const later = "pawl://workflows";
      await watch(later);
      writeFileSync(file, GATE);
      await expect.poll(() => heard.slice(before)).toContain(later);
      expect(new Set(heard.slice(before))).toEqual(new Set([later]));
      await client.close();
    },
  );

  test.each(ERAS)("a client of %s is told which resources nobody watches", async (_era, era) => {
    const { watch } = listening(await connect(folder(), era), era);
    await expect(watch("run://nothing")).rejects.toThrow("no run");
    await expect(watch("x://y")).rejects.toThrow("no resource");
    await expect(watch("pawl://health")).rejects.toThrow("health");
  });
});

test.each(ERAS)("pawl mcp terminal tells a client of %s of its runs and its saved workflows", async (_, era) => {
  const states = { a: { action: { tool: "list_terminal_sessions", params: {} } } };
  const ask = { workflow_definition: { name: "listing", description: "Lists.", initial_state: "a", states } };
  const [here, there] = [application({}), application({})];
  const { url, token } = await startHttp(there);
  for (const [at, connected] of [
    [here, await connectTerminal(here, { negotiation: era })],
    [there, await connectHttp(url, era, token)],
  ] as const) {
    const { call, watch, heard } = listening(connected, era);
    await expect(watch("workflow://listing")).rejects.toThrow("no resource");
    const { run_id } = await call("run_workflow", ask);
    await watch("workflow://listing", `run://${run_id}`);
    await expect(watch("terminal://session_1/screen")).rejects.toThrow("await_output");
    rmSync(join(at, ".terminal_control_workflows", "listing.json"));
    await expect.poll(() => heard).toEqual(["workflow://listing"]);
  }
});
