import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { TellRun } from "../../../src/ports/run-relay.ts";
import { RedisLink, readRedisUrl } from "../../../src/relay/redis-link.ts";
import { createRedisRates } from "../../../src/relay/redis-rates.ts";
import { createRedisRelay } from "../../../src/relay/redis-relay.ts";
import { RedisServer } from "../../support/redis-server.ts";

async function linkTo({ url }: RedisServer, prefix = "test:"): Promise<RedisLink> {
  const link = new RedisLink({ url, prefix });
  onTestFinished(() => link.close());
  expect(await link.findTrouble()).toBeUndefined();
  return link;
}

/** A process that drives every run and tells what it is told to. */
function driver(link: RedisLink) {
  const tells = new Map<string, TellRun>();
  const stop = createRedisRelay(link).serve((runId, tell) => {
    tells.set(runId, tell);
    return () => tells.delete(runId);
  });
  onTestFinished(stop);
  return tells;
}

test("a run is told of to the processes that watch it, and to no other", async () => {
  const server = await RedisServer.start();
  const [one, other, third] = await Promise.all([linkTo(server), linkTo(server), linkTo(server, "another:")]);
  const tells = driver(one);
  const elsewhere = driver(third);
  const heard: JsonObject[] = [];
  const stop = createRedisRelay(other).watch("r", (notice) => heard.push(notice));
  await expect.poll(() => tells.get("r")).toBeDefined();
  const notice = { type: "live", path: "p", attempt: 1, event: { text: "a \u2028 b" } };
  for (let n = 0; n < 3; n += 1) tells.get("r")?.({ ...notice, n });
  await expect.poll(() => heard).toEqual([0, 1, 2].map((n) => ({ ...notice, n })));
  expect([tells.size, elsewhere.size]).toEqual([1, 0]);
  stop();
  tells.get("r")?.(notice);
  await setTimeout(50);
  expect(heard).toHaveLength(3);
});

test("what a process tells of its own run does not come back to it", async () => {
  const server = await RedisServer.start();
  const [one, other] = await Promise.all([linkTo(server), linkTo(server)]);
  const relay = createRedisRelay(one);
  const tells = new Map<string, TellRun>();
  onTestFinished(
    relay.serve((runId, tell) => {
      tells.set(runId, tell);
      return () => undefined;
    }),
  );
  const [own, others]: JsonObject[][] = [[], []];
  onTestFinished(relay.watch("r", (notice) => own?.push(notice)));
  onTestFinished(createRedisRelay(other).watch("r", (notice) => others?.push(notice)));
  await expect.poll(() => tells.get("r")).toBeDefined();
  tells.get("r")?.({ type: "event" });
  await expect.poll(() => others).toEqual([{ type: "event" }]);
  expect(own).toEqual([]);
});

test("messages that are none of ours are passed over", async () => {
  const server = await RedisServer.start();
  const link = await linkTo(server);
  const heard: JsonObject[] = [];
  onTestFinished(createRedisRelay(link).watch("r", (notice) => heard.push(notice)));
  const tells = driver(link);
  const stranger = new Redis(server.url);
  onTestFinished(() => stranger.disconnect());
  const bodies = ["", "{", "[]", "7", '{"notices":7}', '{"notices":["x",null]}', '{"run":{}}', "[".repeat(100_000)];
  for (const body of bodies)
    for (const channel of ["run:r", "watched"]) await stranger.publish(`test:${channel}`, body);
  await stranger.publish("test:run:r", '{"by":"x","notices":[{"type":"event"}]}');
  await expect.poll(() => heard).toEqual([{ type: "event" }]);
  // Its own watcher says again from time to time that it is there.
  expect([...tells.keys()].filter((runId) => runId !== "r")).toEqual([]);
});

test("after the server was killed and has come back everything goes on", async () => {
  const server = await RedisServer.start();
  const [one, other] = await Promise.all([linkTo(server), linkTo(server)]);
  const heard: string[] = [];
  onTestFinished(other.subscribe("wake", (text) => heard.push(text)));
  await expect.poll(() => one.publish("wake", "before") && heard.length > 0).toBe(true);
  await server.kill();
  await expect.poll(() => one.publish("wake", "lost")).toBe(false);
  expect(await one.findTrouble()).toMatch(/ECONNREFUSED|Connection is closed|isn't writeable/);
  await server.begin();
  await expect.poll(() => one.publish("wake", "after") && heard.includes("after")).toBe(true);
});

test("two processes count the requests of a caller together, each caller for itself", async () => {
  const server = await RedisServer.start();
  const rates = (await Promise.all([linkTo(server), linkTo(server)])).map((link) => createRedisRates(link));
  const waits: (number | undefined)[] = [];
  for (let n = 0; n < 14; n += 1) waits.push(await rates[n % 2]?.take("key one", 12));
  expect(waits.slice(0, 12)).toEqual(new Array(12).fill(0));
  for (const wait of waits.slice(12)) expect(wait).toBeGreaterThan(3_000);
  for (const wait of waits.slice(12)) expect(wait).toBeLessThanOrEqual(5_000);
  expect(await rates[0]?.take("key two", 12)).toBe(0);
});

test("a server that hangs holds nobody up: after a moment nobody waits for it", async () => {
  const server = await RedisServer.start();
  const rates = createRedisRates(await linkTo(server));
  expect(await rates.take("key", 10)).toBe(0);
  server.signal("SIGSTOP");
  expect(await rates.take("key", 10)).toBeUndefined();
  const begun = performance.now();
  for (let n = 0; n < 20; n += 1) expect(await rates.take("key", 10)).toBeUndefined();
  // Each that is waited for takes 250 ms.
  expect(performance.now() - begun).toBeLessThan(2_000);
  server.signal("SIGCONT");
  await expect.poll(() => rates.take("key", 10)).toBe(0);
});

test("an address that is none is refused without showing it", () => {
  expect(readRedisUrl("rediss://user:word@host:6380/1")).toBe("rediss://user:word@host:6380/1");
  for (const url of ["localhost:6379", "http://secret@host", ""]) {
    expect(() => readRedisUrl(url)).toThrow(/^`redis\.url` \(REDIS_URL\) is not the address of a Redis server\.$/);
  }
});
