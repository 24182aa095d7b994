import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import { isJsonObject } from "../../src/core/json.ts";
import { createMcpExecutor } from "../../src/executors/mcp/mcp-executor.ts";
import { UhlpEndpoint } from "../../src/executors/mcp/uhlp-endpoint.ts";
import { McpServers } from "../../src/executors/mcp-servers/mcp-servers.ts";
import { createSchemaValidators } from "../../src/executors/output/schema-validators.ts";
import { mcpTask } from "../fakes/mcp-server/mcp-task.ts";
import { openPool } from "../fakes/mcp-server/open-pool.ts";
import { fake } from "../fakes/mcp-server/server-entries.ts";
import { literal, task, toGraph } from "./graphs.ts";
import { World } from "./world.ts";

const ITEMS = 60;
const KILLS = 3;
const RETRY = { maxAttempts: KILLS + 1, backoff: "fixed", initialMs: 10, maxMs: 10, jitter: 0 } as const;
const NO_TOOLS = { has: () => false } as unknown as Parameters<typeof createMcpExecutor>[0]["coreTools"];

test("a tool server that is killed under a fan-out whose step is tried again loses no item", async () => {
  const servers = new McpServers({
    folder: process.cwd(),
    env: () => undefined,
    entries: async () => new Map([["fake", fake()]]),
    pool: openPool(),
    timeoutMs: 30_000,
  });
  const executor = createMcpExecutor({
    servers,
    coreTools: NO_TOOLS,
    endpoint: new UhlpEndpoint({ allowed: [] }),
    hasEndpoint: false,
    validators: createSchemaValidators(),
  });
  const world = new World({ host: { clock: new SystemClock(), findExecutor: async () => executor } });
  const input = literal({ tool: "fake.work", arguments: { steps: 10, delay_ms: 20 } });
  const each = { list: literal([...Array(ITEMS).keys()]), maxConcurrent: 20 };
  const { id } = await world.start(toGraph([task("call", { each, input, retry: RETRY })]));
  const ended = world.host.settled(id);
  const findPid = async () => {
    const asked = await executor.run(mcpTask({ tool: "fake.process" }).task, new AbortController().signal);
    return asked.status === "succeeded" && isJsonObject(asked.output) ? Number(asked.output["pid"]) : undefined;
  };
  for (let kills = 0; kills < KILLS; ) {
    const pid = await findPid();
    await setTimeout(100);
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    kills += 1;
  }
  expect(await ended).toMatchObject({ status: "completed" });
  const events = await world.eventsOf(id);
  expect(events.filter(({ type }) => type === "stepFailed").length).toBeGreaterThan(0);
  expect(events.filter(({ type }) => type === "stepSucceeded")).toHaveLength(ITEMS);
});
