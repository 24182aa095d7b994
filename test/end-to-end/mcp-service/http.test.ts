import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  ERAS,
  isThere,
  readListening,
  type TerminalClient,
  toTerminalClient,
} from "../mcp-terminal/terminal-client.ts";
import { AT_ONCE, application, QUESTION, SLOW_ONCE } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const ASKED = { workflow_name: "question", input_data: { question: "?" }, wait: true };

function answering(script: string): string {
  return application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": script,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
}

interface Listening {
  readonly url: string | URL;
  readonly token?: string | undefined;
}

async function connect({ url, token }: Listening, era: (typeof ERAS)[number][1]): Promise<TerminalClient> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: era });
  onTestFinished(() => client.close());
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return toTerminalClient(client, 0);
}

/** `pawl mcp --http`: runs are driven by a process in the background, which the test ends. */
async function startMcp(folder: string): Promise<Listening> {
  const { command, env } = pawlCommand(["mcp", "--http"], { cwd: folder });
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    const file = join(folder, ".pawl", "lock.json");
    if (!existsSync(file)) return;
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { readonly pid: number };
    if (pid !== process.pid && isThere(pid)) process.kill(pid, "SIGKILL");
  });
  const [said] = (await once(child.stderr, "data")) as [Buffer];
  return readListening(String(said));
}

async function startServe(folder: string): Promise<Listening> {
  return { url: `${(await startServer([], { cwd: folder })).url}/mcp` };
}

async function firstRun({ call }: TerminalClient): Promise<JsonObject> {
  const { items } = await call("list_runs");
  return (items as readonly JsonObject[])[0] ?? {};
}

describe.each([
  ["pawl mcp --http", startMcp],
  ["pawl serve", startServe],
])("%s", (_, start) => {
  test.each(ERAS)(
    "runs a workflow for a client of %s, which hears how far it is",
    async (_era, era) => {
      const client = await connect(await start(answering(AT_ONCE)), era);
      const heard: string[] = [];
      const onprogress = ({ message = "" }) => heard.push(message);
      expect(await client.call("run_workflow", ASKED, { onprogress })).toMatchObject({
        status: "completed",
        outputs: { answer: "42" },
      });
      expect(heard.join("\n")).toContain("answer");
    },
    60_000,
  );

  test.each(ERAS)(
    "a client of %s that cancels the call leaves the run alone, and may cancel it later",
    async (_, era) => {
      const client = await connect(await start(answering(SLOW_ONCE)), era);
      const stop = new AbortController();
      const waiting = client.call("run_workflow", ASKED, { signal: stop.signal });
      waiting.catch(() => undefined);
      await expect.poll(async () => (await firstRun(client))["status"]).toBe("running");
      stop.abort();
      await expect(waiting).rejects.toThrow();
      const { run_id = null, status } = await firstRun(client);
      expect(status).toBe("running");
      expect(await client.call("cancel_run", { run_id })).toMatchObject({ run_id });
      await expect.poll(async () => (await firstRun(client))["status"]).toBe("cancelled");
    },
  );
});

test("a server that stops answers whoever waits, and the run goes on with the next one", async () => {
  const folder = answering(SLOW_ONCE);
  const server = await startServer([], { cwd: folder });
  const client = await connect({ url: `${server.url}/mcp` }, ERAS[0][1]);
  const waiting = client.call("run_workflow", ASKED);
  await expect.poll(async () => (await firstRun(client))["status"]).toBe("running");
  server.kill("SIGTERM");
  const { run_id } = await waiting;
  expect((await server.ended).code).toBe(0);
  const again = await connect(await startServe(folder), ERAS[0][1]);
  await expect
    .poll(async () => (await again.call("get_run_status", { run_id: run_id ?? null }))["status"])
    .toBe("completed");
});

test("subscriptions of clients of 2026 end with the server", async () => {
  const server = await startServer([], { cwd: answering(AT_ONCE) });
  const { client } = await connect({ url: `${server.url}/mcp` }, ERAS[1][1]);
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ["pawl://runs"] });
  server.kill("SIGTERM");
  await subscription.closed;
  expect((await server.ended).code).toBe(0);
});

test("keys of the service open /mcp, as far as their scopes go", async () => {
  const folder = answering(AT_ONCE);
  const created = await pawl(["keys", "create", "reader", "--scopes", "read", "--json"], { cwd: folder });
  const { data } = JSON.parse(created.stdout) as { readonly data: { readonly key: string } };
  const serving = await startServe(folder);
  await expect(connect(serving, ERAS[0][1])).rejects.toThrow(/UNAUTHORIZED|401/);
  const client = await connect({ ...serving, token: data.key }, ERAS[0][1]);
  expect(await client.call("list_runs")).toMatchObject({ items: [] });
  expect(await client.refusal("run_workflow", ASKED)).toMatch(/^FORBIDDEN: .*`run`/);
});
