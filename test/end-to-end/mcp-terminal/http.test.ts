import { once } from "node:events";
import { request } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { ERAS, gone, startHttp, toTerminalClient } from "./terminal-client.ts";

async function connect(url: URL, negotiation: (typeof ERAS)[number][1], token?: string) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiation });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return toTerminalClient(client, 0);
}

test("over HTTP clients of both eras have the same terminals, and hear of progress", async () => {
  const { child, url, token } = await startHttp(application({}));
  const [first, second] = [await connect(url, ERAS[0][1], token), await connect(url, ERAS[1][1], token)];
  const { session_id = null } = await first.call("open_terminal", { shell: "bash --norc" });
  await second.call("send_input", { session_id, input_text: "echo pid=$$\n" });
  const { match_text } = await first.call("await_output", { session_id, pattern: "pid=\\d+" });
  for (const { call } of [first, second]) {
    const heard: string[] = [];
    const states = { a: { action: { tool: "list_terminal_sessions", params: {} } } };
    const workflow_definition = { name: "listing", initial_state: "a", states };
    const onprogress = ({ message = "" }) => heard.push(message);
    expect(await call("run_workflow", { workflow_definition }, { onprogress })).toMatchObject({ success: true });
    expect(heard).toEqual(["State 1 of at most 100: a"]);
  }
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  await gone(Number(String(match_text).slice(4)));
});

for (const [era, negotiation] of ERAS) {
  test(`over HTTP a client of ${era} that cancels its call ends it, and the server ends whatever is under way`, async () => {
    const { child, url, token } = await startHttp(application({}));
    const { call } = await connect(url, negotiation, token);
    const { session_id = null } = await call("open_terminal", { shell: "bash --norc" });
    const stop = new AbortController();
    const options = { signal: stop.signal };
    const waiting = call("await_output", { session_id, pattern: "never", timeout: 600 }, options);
    waiting.catch(() => undefined);
    const state = async () => JSON.stringify((await call("list_terminal_sessions"))["sessions"]);
    await expect.poll(state, { interval: 100, timeout: 20_000 }).toContain('"waiting"');
    stop.abort();
    await expect.poll(state, { interval: 500, timeout: 20_000 }).toContain('"active"');
    call("await_output", { session_id, pattern: "never", timeout: 600 }).catch(() => undefined);
    await expect.poll(state, { interval: 100, timeout: 20_000 }).toContain('"waiting"');
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
}

test("who comes by another name, from another page or to another place is sent away", async () => {
  const { url, token } = await startHttp(application({}));
  expect(await statusOf(url, { origin: "http://localhost:3000" })).toBe(403);
  expect(await statusOf(url, { origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(url, { host: "evil.example" })).toBe(403);
  expect(await statusOf(url, { origin: "null" })).toBe(403);
  expect(await statusOf(url, {})).toBe(401);
  expect(await statusOf(new URL("/other", url), { authorization: `Bearer ${token}` })).toBe(404);
});

test("with a token nobody gets in without it", async () => {
  for (const [options, env] of [
    [["--token", "s3cret-token"], {}],
    [[], { API_KEY: "s3cret-token" }],
  ] as const) {
    const { url } = await startHttp(application({}), options, env);
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { authorization: "Bearer wrong" })).toBe(401);
    expect(await statusOf(url, { authorization: "s3cret-token" })).toBe(401);
    const { client } = await connect(url, ERAS[1][1], "s3cret-token");
    expect((await client.listTools()).tools).toHaveLength(8);
  }
});

test("other machines are let in only with a token", async () => {
  const cwd = application({});
  const refused = await pawl(["mcp", "terminal", "--http", "--host", "0.0.0.0"], { cwd });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no token") });
});

/** `fetch` lets nobody choose the Host. */
function statusOf(url: URL, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json", ...headers } });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}
