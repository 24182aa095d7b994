import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { fanOut, sequence } from "../../bench/support/no-op-host.ts";
import type { Graph, Step } from "../../src/core/graph/graph.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { RunHost } from "../../src/hosts/run-host.ts";
import type { Executor } from "../../src/ports/executor.ts";
import { dag, literal, task } from "../simulation/build.ts";
import { newGraph } from "../simulation/random-graph.ts";
import { findFreePort } from "../support/free-port.ts";
import { RestateServer } from "../support/restate-server.ts";
import { openHost, register } from "./open-host.ts";
import { openRestateWorld } from "./restate-world.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.open();
});

afterAll(async () => {
  await server?.remove();
});

const succeeds: Executor = {
  recordsInput: false,
  run: async ({ path }) => ({ status: "succeeded", output: path, costMicro: 0 }),
};

async function start(host: RunHost, graph: Graph, input: JsonObject = graph.input.defaults): Promise<string> {
  return (await host.startRun({ definition: { text: "", graph }, input })).id;
}

/** The names of what Restate has recorded of an invocation, without those of their completions. */
async function entriesOf(key: string): Promise<readonly string[]> {
  const rows = await server.query(
    "SELECT j.index, j.entry_type, j.name FROM sys_journal j JOIN sys_invocation i ON i.id = j.id" +
      ` WHERE i.target_service_key = '${key}' AND i.target_handler_name = 'run' ORDER BY j.index`,
  );
  const commands = rows.filter((row) => String(row["entry_type"]).startsWith("Command"));
  return commands.map((row) => String(row["name"] || row["entry_type"]));
}

async function statusOf(key: string): Promise<unknown> {
  const where = `target_service_key = '${key}' AND target_handler_name = 'run'`;
  return (await server.query(`SELECT status FROM sys_invocation WHERE ${where}`))[0]?.["status"];
}

function approval(id: string, after: readonly string[]): Step {
  return { kind: "approve", id, after, message: literal("Is it good?"), onReject: "abort" } as Step;
}

test("a run of four steps has four entries, and a fan-out of 500 steps has one for each commit", async () => {
  const { host } = await openRestateWorld(server, succeeds);
  const four = await start(host, sequence(4));
  expect((await host.settled(four)).status).toBe("completed");
  await expect.poll(() => statusOf(four)).toBe("completed");
  expect((await entriesOf(four)).filter((name) => name === "commit")).toHaveLength(4);

  const many = await start(host, fanOut(500));
  expect((await host.settled(many)).status).toBe("completed");
  await expect.poll(() => statusOf(many)).toBe("completed");
  expect((await entriesOf(many)).filter((name) => name === "commit").length).toBeLessThan(10);
});

test("a run that waits for a person holds no handler, and its answer wakes it", async () => {
  const { host, journal } = await openRestateWorld(server, succeeds);
  const graph = newGraph("asks", dag(task("draft"), approval("look", ["draft"]), task("publish", { after: ["look"] })));
  const id = await start(host, graph, {});
  expect((await host.settled(id)).status).toBe("awaiting_approval");
  await expect.poll(() => statusOf(id)).toBe("suspended");
  expect(host.driving).toBe(0);

  await host.request(id, { type: "answer", path: "look", answer: { answer: "approve", by: "ann" } });
  expect((await host.settled(id)).status).toBe("completed");
  await expect.poll(() => statusOf(id)).toBe("completed");
  const record = await journal.findRun(id);
  expect(record).toMatchObject({ status: "completed" });
});

test("a reminder and an escalation come by Restate's clock while no handler waits, each once", async () => {
  const { host, journal } = await openRestateWorld(server, succeeds);
  const nudges = { reminder: { afterMs: 100, times: 2 }, escalation: { afterMs: 300, to: ["boss"], replaces: true } };
  const id = await start(host, newGraph("asks", dag({ ...approval("look", []), ...nudges } as Step)), {});
  const fired = async () => {
    const record = await journal.findRun(id);
    const rows =
      record === undefined || record === "ambiguous"
        ? []
        : await journal.readEvents(record.no, { afterSeq: 0, limit: 100 });
    return rows.flatMap(({ event }) => (event.type === "timerFired" ? [event.timer] : [])).toSorted();
  };
  await expect.poll(fired, { timeout: 20_000 }).toEqual(["look@escalate", "look@remind", "look@remind"]);
  await expect.poll(() => statusOf(id)).toBe("suspended");
  const answer = (name: string) =>
    host.request(id, { type: "answer", path: "look", answer: { answer: "approve", who: { name } } });
  await expect(answer("operator")).rejects.toMatchObject({ code: "APPROVER_REFUSED" });
  await answer("boss");
  expect((await host.settled(id)).status).toBe("completed");
  expect(await fired()).toHaveLength(3);
});

test("a run that waits for a time holds no handler, and Restate's clock wakes it", async () => {
  const { host } = await openRestateWorld(server, succeeds);
  const wait: Step = { kind: "wait", id: "rest", wait: { for: "duration", durationMs: literal(12_000) } };
  const id = await start(host, newGraph("waits", dag(wait, task("after", { after: ["rest"] }))), {});
  await expect.poll(() => statusOf(id)).toBe("suspended");
  expect(host.driving).toBe(0);
  await expect.poll(() => statusOf(id)).toBe("completed");
  expect((await host.settled(id)).status).toBe("completed");
});

/** Works until it is stopped. */
const works: Executor = {
  recordsInput: false,
  run: (_, signal) =>
    new Promise((resolve) => {
      const stop = () =>
        resolve({
          status: "failed",
          code: "STOPPED",
          message: "It was stopped.",
          retryable: false,
          effect: "none",
          costMicro: 0,
        });
      signal.addEventListener("abort", stop, { once: true });
    }),
};

async function cancelInRestate(key: string): Promise<void> {
  const where = `target_service_key = '${key}' AND target_handler_name = 'run'`;
  const [invocation] = await server.query(`SELECT id FROM sys_invocation WHERE ${where}`);
  const url = `${server.adminUrl}/invocations/${String(invocation?.["id"])}/cancel`;
  expect(await fetch(url, { method: "PATCH" })).toMatchObject({ ok: true });
}

test("a cancel ends a run that works, one that waits, and one that is cancelled in Restate", async () => {
  const { host } = await openRestateWorld(server, works);
  const working = await start(host, sequence(2));
  await expect.poll(() => statusOf(working)).toBe("running");
  await host.request(working, { type: "cancel", by: "ann" });
  expect((await host.settled(working)).status).toBe("cancelled");

  const waiting = await start(host, newGraph("asks", dag(approval("look", []))), {});
  await expect.poll(() => statusOf(waiting)).toBe("suspended");
  await host.request(waiting, { type: "cancel" });
  expect((await host.settled(waiting)).status).toBe("cancelled");

  const outside = await start(host, sequence(2));
  await expect.poll(() => statusOf(outside)).toBe("running");
  await cancelInRestate(outside);
  expect((await host.settled(outside)).status).toBe("cancelled");
  await expect.poll(() => statusOf(outside)).toBe("completed");
});

test("after its bound of entries another invocation goes on with a run, which can still be asked and answered", async () => {
  const { host } = await openRestateWorld(server, succeeds, { maxEntries: 10 });
  const steps = Array.from({ length: 34 }, (_, n) => task(`s${n}`, { after: n === 0 ? [] : [`s${n - 1}`] }));
  const graph = newGraph("long", dag(...steps, approval("look", ["s33"]), task("last", { after: ["look"] })));
  const id = await start(host, graph, {});
  expect((await host.settled(id)).status).toBe("awaiting_approval");
  await expect.poll(() => statusOf(`${id}~4`)).toBe("suspended");
  expect(await entriesOf(id)).toHaveLength(10 + 2 * 3 + 1);

  await host.request(id, { type: "answer", path: "look", answer: { answer: "approve" } });
  expect((await host.settled(id)).status).toBe("completed");
  await expect.poll(() => statusOf(id)).toBe("completed");
});

test("a cancel in Restate ends a run with which another invocation goes on", async () => {
  const executor: Executor = {
    recordsInput: false,
    run: (call, signal) => (call.stepId === "last" ? works : succeeds).run(call, signal),
  };
  const { host } = await openRestateWorld(server, executor, { maxEntries: 3 });
  const steps = ["s0", "s1", "s2", "last"].map((id, n, all) => task(id, { after: all.slice(n - 1, n) }));
  const id = await start(host, newGraph("parts", dag(...steps)), {});
  await expect.poll(() => statusOf(`${id}~2`)).toBe("running");
  await cancelInRestate(id);
  expect((await host.settled(id)).status).toBe("cancelled");
  await expect.poll(() => statusOf(id)).toBe("completed");
});

test("a run that began at one endpoint goes on at the one that is registered now, by the bound of entries of before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-restate-moved-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { ingressUrl, adminUrl } = server;
  const openAt = async (port: number, maxEntries: number) => {
    const host = await openHost({ folder, port, service: "moved", ingressUrl, adminUrl, maxEntries }, succeeds);
    await register(server, port, "moved");
    return host;
  };
  const before = await openAt(await findFreePort(), 3);
  const steps = Array.from({ length: 4 }, (_, n) => task(`s${n}`, { after: [n === 0 ? "look" : `s${n - 1}`] }));
  const graph = newGraph("asks", dag(approval("look", []), ...steps));
  const id = await start(before.host, graph, {});
  await expect.poll(() => statusOf(id)).toBe("suspended");
  await before.close();

  const { host, close } = await openAt(await findFreePort(), 100);
  onTestFinished(close);
  await host.request(id, { type: "answer", path: "look", answer: { answer: "approve" } });
  expect((await host.settled(id)).status).toBe("completed");
  await expect.poll(() => statusOf(`${id}~2`)).toBe("completed");
});

test("large outputs are not in Restate's journal", async () => {
  const large: Executor = {
    recordsInput: false,
    run: async () => ({ status: "succeeded", output: "x".repeat(60_000), costMicro: 0 }),
  };
  const { host } = await openRestateWorld(server, large);
  const id = await start(host, fanOut(20));
  expect((await host.settled(id)).status).toBe("completed");
  await expect.poll(() => statusOf(id)).toBe("completed");
  const [sum] = await server.query(
    "SELECT SUM(j.raw_length) AS bytes FROM sys_journal j JOIN sys_invocation i ON i.id = j.id" +
      ` WHERE i.target_service_key = '${id}'`,
  );
  expect(Number(sum?.["bytes"])).toBeGreaterThan(100);
  expect(Number(sum?.["bytes"])).toBeLessThan(70_000);
});
