import { expect, test } from "vitest";
import { type RoutingFacts, routeTool } from "./mcp-executor.ts";

const FACTS: RoutingFacts = {
  tool: "read",
  server: undefined,
  hasEndpoint: false,
  isCore: false,
  servers: ["files", "files.local", "my server"],
};

for (const [what, facts, expected] of [
  ["a name alone is looked for everywhere", {}, { to: "any", tool: "read" }],
  ["a server that is named is asked", { server: "git" }, { to: "server", server: "git", tool: "read" }],
  [
    "also where the name says it again",
    { server: "files", tool: "files.read" },
    { to: "server", server: "files", tool: "read" },
  ],
  ["a dot names a server", { tool: "files.read" }, { to: "server", server: "files", tool: "read" }],
  ["a slash does too", { tool: "files/read.all" }, { to: "server", server: "files", tool: "read.all" }],
  [
    "the longest name of a server counts",
    { tool: "files.local.read" },
    { to: "server", server: "files.local", tool: "read" },
  ],
  [
    "the names of other programs are known",
    { tool: "mcp__files__read" },
    { to: "server", server: "files", tool: "read" },
  ],
  ["with plain characters", { tool: "mcp__my_server__read" }, { to: "server", server: "my server", tool: "read" }],
  ["a server's name alone is no tool of it", { tool: "files." }, { to: "any", tool: "files." }],
  ["built-in tools are here", { tool: "core.x", isCore: true }, { to: "core", tool: "core.x" }],
  [
    "with an endpoint they are there",
    { tool: "core.x", isCore: true, hasEndpoint: true },
    { to: "endpoint", tool: "core.x" },
  ],
  ["as is every name without a server", { tool: "a.b", hasEndpoint: true }, { to: "endpoint", tool: "a.b" }],
  [
    "a configured server goes before an endpoint",
    { tool: "files.read", hasEndpoint: true },
    { to: "server", server: "files", tool: "read" },
  ],
  [
    "a server that is named goes before all",
    { tool: "core.x", server: "files", isCore: true, hasEndpoint: true },
    { to: "server", server: "files", tool: "core.x" },
  ],
] as const) {
  test(what, () => {
    expect(routeTool({ ...FACTS, ...facts })).toEqual(expected);
  });
}
