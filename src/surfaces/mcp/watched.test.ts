import { Server } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test, vi } from "vitest";
import { McpHandler } from "./mcp-handler.ts";
import { addSubscriptions, Watched } from "./watched.ts";

/** Resources that are what the map says, and how often somebody has looked. */
function world(given: Readonly<Record<string, string>> = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const texts = new Map(Object.entries(given));
  const looked: string[] = [];
  const watched = new Watched({
    async resource(uri) {
      looked.push(uri);
      return texts.get(uri) ?? Promise.reject(new Error("It cannot be read now."));
    },
  });
  const told: string[] = [];
  const start = () => watched.watch((event) => told.push(event.kind === "resource_updated" ? event.uri : event.kind));
  return { texts, looked, watched, told, start };
}

const passSeconds = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);

test("a client that has named fifty resources names no more, by either way, and leaves one for another", async () => {
  const uris = Array.from({ length: 51 }, (_, i) => `run://${i}`);
  const { watched, looked } = world(Object.fromEntries(uris.map((uri) => [uri, "1"])));
  for (const uri of uris.slice(0, 50)) await watched.add([uri]);
  await expect(watched.add(["run://50"])).rejects.toThrow("50 resources");
  await watched.add(["run://7"]);
  watched.delete("run://7");
  const listen = (id: number, named: readonly string[]) =>
    watched.follow({ id, method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: named } } });
  expect(await listen(1, ["run://50"])).toBeUndefined();
  expect(await listen(2, ["run://7"])).toMatchObject({ id: 2, error: { code: -32_602 } });
  await watched.follow({ method: "notifications/cancelled", params: { requestId: 1 } });
  expect(await listen(3, ["run://7"])).toBeUndefined();
  // Nothing is read for who names too many.
  expect(looked.filter((uri) => uri === "run://50")).toHaveLength(1);
});

test("what two messages have named is told until both are taken back", async () => {
  const { watched, texts, told, start } = world({ "run://a": "1" });
  const listen = { method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: ["run://a"] } } };
  start();
  await watched.follow({ id: 1, ...listen });
  await watched.follow({ id: "1", ...listen });
  await watched.follow({ method: "notifications/cancelled", params: { requestId: 1 } });
  texts.set("run://a", "2");
  await passSeconds(1);
  expect(told).toEqual(["run://a"]);
  await watched.follow({ method: "notifications/cancelled", params: { requestId: "1" } });
  texts.set("run://a", "3");
  await passSeconds(1);
  expect(told).toEqual(["run://a"]);
});

test("a change while nobody listened is told to who listens again, once, and one that cannot be read is none", async () => {
  const { watched, texts, told, start } = world({ "run://a": "1", "run://b": "1" });
  await watched.add(["run://a", "run://b"]);
  const stop = start();
  stop();
  texts.set("run://a", "2");
  await passSeconds(2);
  expect(told).toEqual([]);
  start();
  texts.delete("run://b");
  await passSeconds(2);
  expect(told).toEqual(["run://a"]);
});

test("nobody looks any more when the session has ended, or another stream has begun", async () => {
  const { watched, looked, start } = world({ "run://a": "1" });
  await watched.add(["run://a"]);
  start();
  start();
  await passSeconds(10);
  const before = looked.length;
  expect(before).toBeLessThan(25);
  watched.close();
  await passSeconds(10);
  expect(looked).toHaveLength(before);
});

test("nobody looks any more when a client of 2025 has ended its session over HTTP", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let looked = 0;
  const handler = new McpHandler<{ readonly id: string }>({
    createServer({ watched }) {
      const server = new Server({ name: "test", version: "1" }, { capabilities: { resources: { subscribe: true } } });
      addSubscriptions(server, watched);
      return server;
    },
    marksFor: () => ({ resource: async () => String(looked++) }),
    maxBodyBytes: 10_000,
    log: () => undefined,
  });
  onTestFinished(() => handler.close());
  let session: Record<string, string> = {};
  const ask = async (method: string, body?: object) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
    const sent = body === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...body }) };
    const answer = await handler.fetch(new Request("http://localhost/mcp", { method, headers, ...sent }), { id: "me" });
    session = { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    return answer;
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  await ask("POST", { id: 1, method: "initialize", params });
  const stream = await ask("GET");
  await ask("POST", { id: 2, method: "resources/subscribe", params: { uri: "run://a" } });
  await passSeconds(2);
  expect(looked).toBeGreaterThan(2);
  const begun = await stream.body?.getReader().read();
  expect(new TextDecoder().decode(begun?.value)).toContain("notifications/resources/updated");
  const ended = session;
  await ask("DELETE");
  const before = looked;
  await passSeconds(10);
  expect(looked).toBe(before);
  session = ended;
  // A client that names it again hears that it has to begin a new one.
  expect((await ask("POST", { id: 3, method: "ping" })).status).toBe(404);
});
