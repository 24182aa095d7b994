import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const FAKE = fileURLToPath(new URL("../../fakes/mcp-server/main.ts", import.meta.url));

const FILES = {
  "scripts/s.py": "def check(order):\n    return order\n",
  ".mcp.json": JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [FAKE] } } }),
  "workflows/child.yaml":
    "name: child\nsteps:\n  - {id: deep, type: sub_workflow, sub_workflow: {workflow: nowhere}}\n  - {id: say, type: mcp, tool: fake.sya, params: {text: a}}\n",
};

const NEEDY = `name: needy
steps:
  - {id: ask, prompt: Hello.}
  - {id: call, type: sub_workflow, sub_workflow: {workflow: chidl}}
  - {id: file, type: sub_workflow, sub_workflow: {workflow: ./missing.yaml}}
  - {id: child, type: sub_workflow, sub_workflow: {workflow: child}}
  - {id: made, type: sub_workflow, sub_workflow: {workflow: "{input.name}"}}
  - {id: server, type: mcp, tool: say, server: fakee}
  - {id: tool, type: mcp, tool: fake.sya, params: {text: a}}
  - {id: core, type: mcp, tool: core.state.getRuntimeVale, params: {key: a}}
  - {id: fine, type: mcp, tool: fake.say, params: {text: a}}
`;

test("missing workflows, servers and tools are found at the start, all at once, with their places", async () => {
  const folder = application({ ...FILES, "needy.yaml": NEEDY });
  const { code, stderr } = await pawl(["run", "needy.yaml", "--agent", "simulated"], { cwd: folder });
  expect(code).toBe(3);
  for (const [line, named] of [
    ["needy.yaml:4", "WORKFLOW_NOT_FOUND"],
    ["needy.yaml:5", "FILE_NOT_FOUND"],
    ["needy.yaml:8", "MCP_SERVER_UNKNOWN"],
    ["needy.yaml:9", "MCP_TOOL_UNKNOWN"],
    ["needy.yaml:10", "MCP_TOOL_UNKNOWN"],
    ["child.yaml:3", "WORKFLOW_NOT_FOUND"],
    ["child.yaml:4", "MCP_TOOL_UNKNOWN"],
  ])
    expect(stderr).toMatch(new RegExp(`${line}:\\d+ error ${named}`));
  expect(stderr).toContain("Did you mean `child`?");
  expect(stderr).not.toMatch(/needy\.yaml:(3|6|7|11):/);
  expect((await pawl(["runs", "ls"], { cwd: folder })).stdout).toBe("No runs.\n");
});

test("tools of servers that agents of Pawl list are looked for, too", async () => {
  const text =
    "name: agents\nsteps:\n  - {id: a, prompt: Hi., tools: [fake.sya, files]}\n  - {id: b, prompt: Hi., tools: [fake.say, fake.*]}\n  - {id: c, prompt: Hi., tools: [fkae.*]}\n";
  const folder = application({ ...FILES, "agents.yaml": text });
  const env = { ANTHROPIC_API_KEY: "none" };
  const { code, stderr } = await pawl(["run", "agents.yaml", "--agent", "inline"], { cwd: folder, env });
  expect(code).toBe(3);
  expect(stderr).toMatch(/agents\.yaml:3:\d+ error MCP_TOOL_UNKNOWN/);
  expect(stderr).toMatch(/agents\.yaml:5:\d+ error MCP_TOOL_UNKNOWN/);
  expect(stderr).not.toMatch(/agents\.yaml:4:/);
});

test("a function that a script does not have is found with the file", async () => {
  const text = "name: code\nsteps:\n  - {id: a, type: code, script: 'scripts/s.py#chekc'}\n";
  const folder = application({ ...FILES, "code.yaml": text });
  const { code, stdout, stderr } = await pawl(["validate", "code.yaml"], { cwd: folder });
  expect(code).toBe(3);
  expect(stdout + stderr).toMatch(/code\.yaml:3:\d+ error FUNCTION_MISSING[\s\S]*Did you mean `check`\?/);
});

test("where slips are allowed, what is missing is a warning", async () => {
  const folder = application({ ...FILES, "needy.yaml": NEEDY });
  const { stderr } = await pawl(["run", "needy.yaml", "--agent", "simulated", "--lenient"], { cwd: folder });
  expect(stderr).toMatch(/needy\.yaml:4:\d+ warning WORKFLOW_NOT_FOUND/);
});
