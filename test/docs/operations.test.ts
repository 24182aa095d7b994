import type { Command } from "commander";
import { expect, test } from "vitest";
import { type Operation, verbsOf } from "../../src/operations/operation.ts";
import { loadOperations, loadTopic } from "../../src/operations/operations.ts";
import { buildProgram } from "../../src/surfaces/cli/program.ts";
import { loadEndpoints } from "../../src/surfaces/http/service/endpoints.ts";
import { loadServiceTools } from "../../src/surfaces/mcp/create-service-server.ts";

const ENDPOINTS = await loadEndpoints();
/** Without those over terminals, which are no operations. */
const SERVICE_TOOLS = (await loadServiceTools()).own.filter(({ set }) => set !== "terminals");

const ADVICE = "Describe it as an operation in src/operations, and say where else it is to be had, or why it is not.";

/** Verbs that are a process of their own, or need a person's browser on this machine, and no operation. */
const PROCESSES = [
  ...["serve", "worker", "dev", "own", "test", "completion", "mcp serve", "mcp core", "mcp terminal"],
  ...["mcp login", "mcp logout"],
];

const ALL_OPERATIONS = await loadOperations();

type Surface = "http" | "cli" | "mcp";

test.each([
  ["http", ENDPOINTS.map(({ id }) => id)],
  [
    "cli",
    leavesOf(
      await buildProgram(
        [],
        () => Promise.reject(new Error("Nothing is opened.")),
        () => undefined,
      ),
    ),
  ],
  ["mcp", SERVICE_TOOLS.map(({ offered }) => offered.name)],
] as const)("what %s offers is described as an operation, and what operations promise is there", (surface, offered) => {
  const described = ALL_OPERATIONS.flatMap((operation) => placesOf(operation)[surface]);
  const known = new Set([...described, ...(surface === "cli" ? PROCESSES : [])]);
  expect(
    offered.filter((name) => !known.has(name)),
    ADVICE,
  ).toEqual([]);
  expect([...known].filter((name) => !offered.includes(name))).toEqual([]);
});

test("the first word of a verb loads its operation", async () => {
  for (const operation of ALL_OPERATIONS) {
    for (const { verb } of verbsOf(operation)) {
      const loaded = await loadTopic(verb.split(" ")[0] ?? "");
      expect(loaded?.map((each) => each.id)).toContain(operation.id);
    }
  }
});

test("a tool needs the scope of its operation", () => {
  for (const { offered, scope } of SERVICE_TOOLS) {
    const needed = ALL_OPERATIONS.filter((each) => placesOf(each).mcp.includes(offered.name)).map((each) => each.scope);
    expect({ tool: offered.name, scope: [scope] }).toEqual({ tool: offered.name, scope: [...new Set(needed)] });
  }
});

/** What an operation's own description promises. */
function placesOf({ id, http, cli, mcp }: Operation): Readonly<Record<Surface, readonly string[]>> {
  return {
    http: "no" in http ? [] : [id, ...(http.alias === undefined ? [] : [http.alias.id])],
    cli: "byHand" in cli ? cli.byHand : verbsOf({ cli }).map(({ verb }) => verb),
    mcp: "no" in mcp ? [] : "byHand" in mcp ? mcp.byHand : [mcp.tool],
  };
}

/** Every verb that does something, as it is typed. */
function leavesOf(command: Command, path: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((below) => leavesOf(below, [...path, below.name()]));
}
