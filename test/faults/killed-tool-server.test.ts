import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import type { TaskStep } from "../../src/core/graph/graph.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { createMcpExecutor } from "../../src/executors/mcp/mcp-executor.ts";
import { UhlpEndpoint } from "../../src/executors/mcp/uhlp-endpoint.ts";
import { McpServers } from "../../src/executors/mcp-servers/mcp-servers.ts";
import { JsonSchemas } from "../../src/schemas/json-schemas.ts";
import { mcpTask } from "../fakes/mcp-server/mcp-task.ts";
import { openPool } from "../fakes/mcp-server/open-pool.ts";
import { fake } from "../fakes/mcp-server/server-entries.ts";
import { literal, task, toGraph } from "./graphs.ts";
import { World } from "./world.ts";

const RUNS = 300;
const KILLS = 8;
const WORK = { tool: "fake.work", arguments: { steps: 10, delay_ms: 20 } };
const NO_TOOLS = { has: () => false } as unknown as Parameters<typeof createMcpExecutor>[0]["coreTools"];

/** A host whose steps call a tool server of the test's own. */
function serve(faults: readonly string[] = []) {
  const executor = createMcpExecutor({
    servers: new McpServers({
      folder: process.cwd(),
      env: () => undefined,
      entries: async () => new Map([["fake", fake(faults)]]),
      pool: openPool(),
      timeoutMs: 30_000,
    }),
    coreTools: NO_TOOLS,
    endpoint: new UhlpEndpoint({ allowed: [] }),
    validators: new JsonSchemas(),
  });
  const world = new World({ host: { clock: new SystemClock(), findExecutor: async () => executor } });
  const findPid = async () => {
    const asked = await executor.run(mcpTask({ tool: "fake.process" }).task, new AbortController().signal);
    return asked.status === "succeeded" && isJsonObject(asked.output) ? Number(asked.output["pid"]) : undefined;
  };
  return { world, findPid };
}

function callOf(input: JsonObject, more: Partial<TaskStep> = {}) {
  return toGraph([task("call", { input: literal(input), ...more })]);
}

test("a tool server that is killed at random moments fails none of 300 runs, whose step is not tried again", async () => {
  const { world, findPid } = serve();
  const runs = await Promise.all(Array.from({ length: RUNS }, () => world.start(callOf(WORK))));
  let isOver = false;
  const ended = Promise.all(runs.map(({ id }) => world.host.settled(id))).finally(() => {
    isOver = true;
  });
  for (let kills = 0; kills < KILLS && !isOver; ) {
    const pid = await findPid();
    await setTimeout(Math.random() * 250);
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    kills += 1;
  }
  expect(new Set((await ended).map(({ status }) => status))).toEqual(new Set(["completed"]));
  const events = (await Promise.all(runs.map(({ id }) => world.eventsOf(id)))).flat();
  expect(events.filter(({ type }) => type === "stepFailed")).toEqual([]);
  expect(events.filter(({ type }) => type === "stepSucceeded")).toHaveLength(RUNS);
  const interrupted = events.filter(({ type }) => type === "stepInterrupted");
  expect(interrupted.length).toBeGreaterThan(0);
  expect(interrupted[0]).toMatchObject({ cause: "crash", reason: expect.stringMatching(/"fake" .*SIGKILL/) });
});

test("a step that kills its tool server is held, and a step that is done only once is not repeated", async () => {
  const { world } = serve();
  const [once, again] = await Promise.all([
    world.run(callOf({ tool: "fake.die", arguments: {} }, { atMostOnce: true })),
    world.run(callOf({ tool: "fake.die", arguments: {} })),
  ]);
  expect(once).toMatchObject({
    status: "failed",
    error: {
      code: "INTERRUPTED",
      message: expect.stringContaining('may not be repeated: The MCP server "fake" ended'),
    },
  });
  expect(again).toMatchObject({
    status: "waiting",
    error: { code: "POISON", message: expect.stringMatching(/what worked for it died.*"fake" ended during the call/) },
  });
  expect(await world.journal.readOutbox({ kind: "dead_letter", limit: 10 })).toHaveLength(1);
});

test("a tool server that cannot start fails its step", async () => {
  const { world } = serve(["die-at-start"]);
  expect(await world.run(callOf(WORK))).toMatchObject({ status: "failed", error: { code: "MCP_SERVER_FAILED" } });
});
