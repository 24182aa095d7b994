import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const GARDEN = "name: garden\nsteps:\n  - {id: ask, prompt: 'Of {input.topic}.'}\n";
const FILES = { "workflows/garden.yaml": GARDEN, "bad.json": '{\n "topic": "x",\n "b": tru\n}' };

const at = (step: string) =>
  `name: two\nsteps:\n  - {id: paid, prompt: Hi.}\n  - {id: b, depends_on: [paid], ${step}}\n`;

test.each([
  [
    "a provider that no one knows",
    "prompt: Hi., model: 'anthropc:claude-x'",
    {},
    "MODEL_UNKNOWN",
    "`anthropic:claude-x`",
  ],
  ["an alias that no one knows", "type: llm, prompt: Hi., model: sonet", {}, "MODEL_UNKNOWN", "`sonnet`"],
  [
    "a key that is missing",
    "type: llm, prompt: Hi., model: 'openai:gpt-5'",
    {},
    "MODEL_NOT_CONFIGURED",
    "OPENAI_API_KEY",
  ],
  ["a program that does not start", "type: mcp, tool: shop.buy", {}, "MCP_SERVER_FAILED", '"shop" did not start'],
])("%s is found before the step before it is paid, by every verb", async (_, step, env, code, says) => {
  const mcp = JSON.stringify({ mcpServers: { shop: { command: "no-such-program" } } });
  const cwd = application({ "workflows/two.yaml": at(step), ".mcp.json": mcp });
  const given = { cwd, env: { ANTHROPIC_API_KEY: "none", ...env } };
  const ran = await pawl(["run", "two"], given);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toMatch(new RegExp(`two\\.yaml:4:\\d+ error ${code} Step 'b'`));
  expect(ran.stderr).toContain(says);
  expect((await pawl(["runs", "ls"], given)).stdout).toBe("No runs.\n");
  const planned = JSON.parse((await pawl(["plan", "two", "--json"], given)).stdout).data;
  expect(planned).toMatchObject({ ready: false, problems: [{ code }], steps: [{ answered_by: "model" }, {}] });
  const validated = await pawl(["validate", "workflows/two.yaml"], given);
  expect(validated.stdout).toContain(code);
  expect(validated.code).toBe(code === "MODEL_UNKNOWN" ? 3 : 0);
  const checked = await pawl(["doctor"], given);
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining("error workflow two: Step 'b'")]);
});

test("`models.default` answers agent steps that name no model, and `doctor` says so", async () => {
  const cwd = application(FILES);
  const env = { ANTHROPIC_API_KEY: "none", PAWL_MODELS__DEFAULT: "mock:" };
  const ran = await pawl(["run", "garden", "-i", "topic=moss"], { cwd, env });
  expect(JSON.parse(ran.stdout)).toEqual({ ask: "Simulated answer to: Of moss." });
  const local =
    "models:\n  default: local:llama\n  providers:\n    local: {kind: openai-compatible, base_url: 'http://127.0.0.1:9/v1'}\n";
  const checked = await pawl(["doctor"], { cwd: application({ ...FILES, "pawl.yaml": local }) });
  expect(checked.stdout).toContain("agents: agents of Pawl itself, with local:llama at http://127.0.0.1:9/v1");
  expect(checked.code).toBe(0);
});

test("`--agent simulated` answers steps that ask a model, as the script says", async () => {
  const text =
    "name: asks\nsteps:\n  - {id: a, type: llm, prompt: Hi., model: 'openai:gpt-5'}\n  - {id: b, type: llm, prompt: Hi.}\n";
  const cwd = application({ "asks.yaml": text, "script.yaml": "steps:\n  b: {reply: As written.}\n" });
  const ran = await pawl(["run", "asks.yaml", "--agent", "simulated:script.yaml"], { cwd });
  expect(JSON.parse(ran.stdout)).toEqual({ a: "Simulated answer to: Hi.", b: "As written." });
});

test.each([["doctor"], ["run", "garden"], ["serve", "--port", "0"], ["runs", "ls"], ["plan", "garden"]])(
  "`pawl %s` of an application that is not there makes none",
  async (...args) => {
    const cwd = application({ "shop/workflows/garden.yaml": GARDEN });
    const { code, stderr } = await pawl([...args, "--app", "shpo"], { cwd });
    expect([code, stderr]).toEqual([
      5,
      expect.stringMatching(/FILE_NOT_FOUND .*shpo[\s\S]*Did you mean --app \S*shop\?/),
    ]);
    expect(existsSync(join(cwd, "shpo"))).toBe(false);
  },
);

test.each([
  ["an unknown name", ["run", "gardn"], /WORKFLOW_NOT_FOUND[\s\S]*Did you mean `garden`\?.*pawl workflows ls/],
  ["a folder", ["run", "workflows"], /workflows is a folder[\s\S]*`workflows\/garden\.yaml`/],
  ["a folder to validate", ["validate", "workflows"], /is a folder[\s\S]*garden\.yaml/],
  ["a file that is not there", ["run", "workflows/gardn.yaml"], /FILE_NOT_FOUND[\s\S]*garden\.yaml/],
  ["bad JSON", ["run", "garden", "--input", "bad.json"], /bad\.json is not valid JSON \(line 3, column 7\): `tru`/],
  ["bad JSON that is typed", ["run", "garden", "--input", '{"topic": "x",}'], /`--input` .*\(line 1, column 14\)/],
  [
    "a file for the data",
    ["runs", "ls", "--data", "bad.json"],
    /CONFIG_INVALID .*bad\.json is a file[\s\S]*--data DIR/,
  ],
])("%s is told with the likely word and what helps", async (_, args, says) => {
  const { code, stderr } = await pawl(args, { cwd: application(FILES) });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(says);
});

test("the whole input may be typed", async () => {
  const { stdout } = await pawl(["run", "garden", "--input", '{"topic": "moss"}', "--agent", "simulated"], {
    cwd: application(FILES),
  });
  expect(stdout).toContain("Of moss.");
});

test("each setting that is wrong stands on a line of its own, with the likely name", async () => {
  const cwd = application({ ...FILES, "pawl.yaml": "server: {prot: 80, host: 7}\nmodels: {defalt: x}\n" });
  const { stderr } = await pawl(["runs", "ls"], { cwd });
  expect(stderr).toMatch(/^error CONFIG_INVALID server\.host .*$/m);
  expect(stderr).toMatch(/^error CONFIG_INVALID server\.prot .*no such setting. Did you mean `server\.port`\?$/m);
  expect(stderr).toMatch(/^error CONFIG_INVALID models\.defalt .*Did you mean `models\.default`\?$/m);
});

test("a key of an approval is sent to its block, and no type is listed that is not supported", async () => {
  const text = "name: x\nsteps:\n  - {id: a, type: approval, message: Shall we?}\n  - {id: b, type: transform}\n";
  const { stdout } = await pawl(["validate", "x.yaml"], { cwd: application({ "x.yaml": text }) });
  expect(stdout).toContain("Write it under `approval_config:`.");
  expect(stdout).toMatch(/`type` cannot be `transform`; it is one of standard, .*terminal\.$/m);
});

test("a server that throws at its start is told of once, with the line that says why", async () => {
  const server = "function deep(n) { if (n === 0) throw new Error('No licence.'); return deep(n - 1); }\ndeep(12);\n";
  const mcp = JSON.stringify({ mcpServers: { shop: { command: process.execPath, args: ["server.mjs"] } } });
  const workflow = "name: one\nsteps:\n  - {id: a, type: mcp, tool: shop.buy}\n";
  const cwd = application({ "one.yaml": workflow, "server.mjs": server, ".mcp.json": mcp });
  for (const verb of [["run", "one.yaml"], ["plan", "one.yaml"], ["doctor"], ["validate", "one.yaml"]]) {
    const { stdout, stderr } = await pawl(verb, { cwd });
    const said = stdout + stderr;
    expect([verb, said.match(/No licence/g)?.length]).toEqual([verb, 1]);
    expect(said).toContain('It wrote "Error: No licence.".');
    expect(said).not.toMatch(/ at deep|Node\.js v/);
    expect(said).toContain("Run its command by hand");
  }
});
