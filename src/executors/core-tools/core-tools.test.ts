import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { agentTask } from "../../../test/fakes/sandstorm/agent-task.ts";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { withGrant } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { type CoreToolsOptions, createCoreTools } from "./core-tools.ts";

const NEVER = new AbortController().signal;
const READ = "core.state.getDefinitionFileContent";
const DIFF = "core.state.applyDefinitionDiff";
const WRITE = "core.state.setDefinitionFileContent";
const DELETE = "core.state.deleteDefinitionFile";
const LIST = "core.state.listDefinitionDirectory";

let base = "";
let folder = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "pawl-tools-"));
  folder = join(base, "app");
  mkdirSync(join(folder, "workflows"), { recursive: true });
  mkdirSync(join(folder, ".pawl"));
  mkdirSync(join(folder, "kept"));
  writeFileSync(join(folder, "workflows", "a.yaml"), "startAt: a\n");
  writeFileSync(join(folder, ".env"), "KEY=secret\n");
  writeFileSync(join(folder, "pawl.yaml"), "mcp: {}\n");
  writeFileSync(join(folder, "kept", "data.txt"), "kept");
  writeFileSync(join(base, "outside.txt"), "outside");
  onTestFinished(() => rmSync(base, { recursive: true }));
});

test("a definition file is read with a revision, and written in one go", async () => {
  const first = await call(READ, { file_path: "workflows/a.yaml" });
  expect(first).toMatchObject({
    output: { content: "startAt: a\n", file_path: "workflows/a.yaml", revision: expect.any(String) },
  });
  const written = await call(WRITE, { file_path: "prompts/new/b.yaml", content: "template: hi\n" });
  expect(readFileSync(join(folder, "prompts/new/b.yaml"), "utf8")).toBe("template: hi\n");
  expect(readdirSync(join(folder, "prompts/new"))).toEqual(["b.yaml"]);
  expect(await call(READ, { file_path: "prompts/new/b.yaml" })).toMatchObject({
    output: { revision: outputOf(written)["resulting_revision"] },
  });
});

test("the revision changes with the content, and an older one is not kept", async () => {
  const { revision } = outputOf(await call(READ, { file_path: "workflows/a.yaml" }));
  const args = { file_path: "workflows/a.yaml", revision: revision ?? "" };
  expect(await call(READ, args)).toMatchObject({ status: "succeeded" });
  await call(WRITE, { file_path: "workflows/a.yaml", content: "startAt: b\n" });
  expect(await call(READ, args)).toMatchObject({ code: "REVISION_UNKNOWN" });
});

test("what is no text goes and comes as base64", async () => {
  const content = Buffer.from([0xff, 0x00, 0x80]).toString("base64");
  await call(WRITE, { file_path: "data.bin", content, encoding: "base64" });
  expect(await call(READ, { file_path: "data.bin", encoding: "base64" })).toMatchObject({ output: { content } });
  expect(await call(READ, { file_path: "data.bin" })).toMatchObject({
    code: "FILE_NOT_TEXT",
    message: expect.stringContaining("encoding: base64"),
  });
});

test("a file that is deleted is gone, and one that never was is no error", async () => {
  expect(await call(DELETE, { file_path: "workflows/a.yaml" })).toMatchObject({
    output: { resulting_revision: "none" },
  });
  expect(existsSync(join(folder, "workflows/a.yaml"))).toBe(false);
  expect(await call(DELETE, { file_path: "workflows/a.yaml" })).toMatchObject({ status: "succeeded" });
  expect(await call(READ, { file_path: "workflows/a.yaml" })).toMatchObject({ code: "FILE_NOT_FOUND" });
});

test("a folder is listed without what no path may name", async () => {
  mkdirSync(join(folder, "node_modules"));
  const roots: readonly JsonObject[] = [
    {},
    { dir_path: "" },
    { dir_path: "." },
    { dir_path: "/" },
    { directory_path: "" },
  ];
  for (const root of roots) expect(await call(LIST, root)).toMatchObject({ output: { entries: ["workflows/"] } });
  const { entries, revision } = outputOf(await call(LIST, { dir_path: "", recursive: true, revision: null }));
  expect(entries).toEqual(["workflows/", "workflows/a.yaml"]);
  await call(WRITE, { file_path: "workflows/b.yaml", content: "startAt: b\n" });
  expect(await call(LIST, { dir_path: "", recursive: true, revision: revision ?? "" })).toMatchObject({
    code: "REVISION_UNKNOWN",
  });
  expect(await call(LIST, { dir_path: "nowhere" })).toMatchObject({ code: "FILE_NOT_FOUND" });
});

test("a listing of more than 5,000 entries is refused instead of cut", async () => {
  for (let index = 0; index < 5_000; index += 1) mkdirSync(join(folder, `workflows/${index}`));
  expect(await call(LIST, { dir_path: "workflows" })).toMatchObject({ code: "TOO_LARGE" });
});

for (const path of [
  "../outside.txt",
  "workflows/../../outside.txt",
  "/etc/passwd",
  "C:/windows",
  "workflows\\..\\..\\outside.txt",
  "./workflows/a.yaml",
  "workflows//a.yaml",
  "nul\0.yaml",
  ".env",
  ".mcp.json",
  ".pawl/pawl.db",
  "workflows/.hidden",
  "node_modules/x.js",
  "pawl.yaml",
  "PAWL.YML",
  "kept/data.txt",
  "kept",
  "",
  "x".repeat(501),
]) {
  test(`no tool touches ${JSON.stringify(path.slice(0, 40))}`, async () => {
    for (const outcome of [
      await call(READ, { file_path: path }),
      await call(WRITE, { file_path: path, content: "changed" }),
      await call(DELETE, { file_path: path }),
    ]) {
      expect(outcome).toMatchObject({ status: "failed", code: "FILE_PATH_INVALID", effect: "none" });
    }
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("outside");
  });
}

test("links are not followed, neither to files nor to folders, in no tool", async () => {
  symlinkSync(join(base, "outside.txt"), join(folder, "link.txt"));
  symlinkSync(base, join(folder, "up"));
  for (const path of ["link.txt", "up/outside.txt", "up/new.txt"]) {
    for (const outcome of [
      await call(READ, { file_path: path }),
      await call(WRITE, { file_path: path, content: "changed" }),
      await call(DELETE, { file_path: path }),
    ]) {
      expect(outcome).toMatchObject({ code: "FILE_PATH_INVALID" });
    }
  }
  expect(await call(LIST, { dir_path: "up" })).toMatchObject({ code: "FILE_PATH_INVALID" });
  expect(JSON.stringify(outputOf(await call(LIST, { recursive: true })))).not.toMatch(/link|up/);
  expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("outside");
  expect(existsSync(join(base, "new.txt"))).toBe(false);
});

test("a file of more than 1 MiB is neither read nor written, and a folder is no file", async () => {
  writeFileSync(join(folder, "big.txt"), "x".repeat(1024 * 1024 + 1));
  expect(await call(READ, { file_path: "big.txt" })).toMatchObject({ code: "TOO_LARGE" });
  expect(await call(WRITE, { file_path: "b.txt", content: "x".repeat(1024 * 1024 + 1) })).toMatchObject({
    code: "TOO_LARGE",
  });
  expect(await call(READ, { file_path: "workflows" })).toMatchObject({ code: "FILE_NOT_FOUND" });
  expect(await call(WRITE, { file_path: "workflows", content: "" })).toMatchObject({ code: "FILE_PATH_INVALID" });
  expect(await call(WRITE, { file_path: "workflows/a.yaml/b", content: "" })).toMatchObject({
    code: "FILE_PATH_INVALID",
  });
});

test("a diff changes a file where it fits, and nothing where it does not", async () => {
  const path = "workflows/diffed.yaml";
  await call(WRITE, { file_path: path, content: "a: 1\nb: 2\nc: 3\n" });
  const diff = ["--- a", "+++ b", "@@ -1,3 +1,3 @@", " a: 1", "-b: 2", "+b: 20", " c: 3", ""].join("\n");
  const { revision } = outputOf(await call(READ, { file_path: path }));
  const stale = { file_path: path, diff_content: diff, expected_base_revision: "0000", commit_message: "b" };
  expect(await call(DIFF, stale)).toMatchObject({ code: "REVISION_UNKNOWN" });
  expect(await call(DIFF, { file_path: path })).toMatchObject({ code: "MCP_ARGUMENTS_INVALID" });
  expect(await call(DIFF, { ...stale, expected_base_revision: revision ?? "" })).toMatchObject({ status: "succeeded" });
  expect(await call(READ, { file_path: path })).toMatchObject({ output: { content: "a: 1\nb: 20\nc: 3\n" } });
  for (const wrong of [diff, "", "no diff", `${diff}\n${diff}`]) {
    expect(await call(DIFF, { file_path: path, diff: wrong })).toMatchObject({ code: "DIFF_NOT_APPLIED" });
  }
  expect(await call(DIFF, { file_path: "workflows/none.yaml", diff })).toMatchObject({ code: "FILE_NOT_FOUND" });
  expect(await call(READ, { file_path: path })).toMatchObject({ output: { content: "a: 1\nb: 20\nc: 3\n" } });
});

for (const { set, get, remove, kept, none, gone } of [
  {
    set: "core.state.setRuntimeValue",
    get: "core.state.getRuntimeValue",
    remove: "core.state.deleteRuntimeValue",
    kept: (_: string, value: Json) => ({ value, found: true }),
    none: () => ({ value: null, found: false }),
    gone: () => ({ success: true }),
  },
  {
    set: "community.database.simple_kv.set",
    get: "community.database.simple_kv.get",
    remove: "community.database.simple_kv.delete",
    kept: (key: string, value: Json) => ({ key, value, exists: true }),
    none: (key: string) => ({ key, value: null, exists: false }),
    gone: (key: string, deleted: boolean) => ({ key, deleted }),
  },
]) {
  test(`${set}: a value is kept under any key, per application, until it is deleted`, async () => {
    for (const key of ["k", "K", "a/b", "../x", "a.b", "ü".repeat(300), "\0"]) {
      await call(set, { key, value: { of: key } });
      expect(outputOf(await call(get, { key }))).toEqual(kept(key, { of: key }));
    }
    await call(set, { key: "k", value: null, app_id: "other" });
    expect(outputOf(await call(get, { key: "k", app_id: "other" }))).toEqual(kept("k", null));
    expect(outputOf(await call(remove, { key: "k" }))).toEqual(gone("k", true));
    expect(outputOf(await call(remove, { key: "k" }))).toEqual(gone("k", false));
    expect(outputOf(await call(get, { key: "k" }))).toEqual(none("k"));
    expect(outputOf(await call(get, { key: "K" }))).toEqual(kept("K", { of: "K" }));
  });

  test(`${set}: a value with a time to live is gone after it`, async () => {
    let now = 1_000_000;
    const timed = { now: () => now };
    await call(set, { key: "k", value: "soon gone", ttl_seconds: 60 }, timed);
    now += 59_999;
    expect(outputOf(await call(get, { key: "k" }, timed))).toEqual(kept("k", "soon gone"));
    now += 1;
    expect(outputOf(await call(get, { key: "k" }, timed))).toEqual(none("k"));
    expect(await call(set, { key: "k", value: "", ttl_seconds: 0 })).toMatchObject({ code: "MCP_ARGUMENTS_INVALID" });
  });
}

test("the two kinds of values do not see each other, and have limits", async () => {
  await call("core.state.setRuntimeValue", { key: "k", value: 1 });
  expect(await call("community.database.simple_kv.get", { key: "k" })).toMatchObject({ output: { value: null } });
  const tooLarge = { key: "k", value: "x".repeat(1024 * 1024) };
  expect(await call("core.state.setRuntimeValue", tooLarge)).toMatchObject({ code: "MCP_ARGUMENTS_INVALID" });
  expect(await call("core.state.getRuntimeValue", { key: "x".repeat(1_001) })).toMatchObject({
    code: "MCP_ARGUMENTS_INVALID",
  });
});

test("only what the configuration gives to workflows can be read", async () => {
  const configuration = { "uhlp.max_steps": 20, shop: { currency: "EUR" }, "a.b": 1 };
  const read = async (key: string) => outputOf(await call("core.framework.getConfigValue", { key }, { configuration }));
  expect(await read("uhlp.max_steps")).toEqual({ value: 20 });
  expect(await read("shop.currency")).toEqual({ value: "EUR" });
  for (const key of [
    "agent.anthropic_api_key",
    "constructor",
    "shop.constructor",
    "__proto__",
    "shop.currency.length",
    "",
  ]) {
    expect(await read(key)).toEqual({ value: null });
  }
});

test("commands are refused where they are not allowed, and run with their limits where they are", async () => {
  const args = { command: "echo", args: ["a b", "$HOME"], timeout_seconds: 2 };
  expect(await call("core.linux.executeCommand", args)).toMatchObject({ code: "COMMANDS_NOT_ALLOWED" });
  const asked: unknown[] = [];
  const runCommand: CoreToolsOptions["runCommand"] = async (request) => {
    asked.push(request);
    return { stdout: "out", stderr: "", exitCode: 3 };
  };
  expect(await call("core.linux.executeCommand", args, { runCommand })).toMatchObject({
    output: { stdout: "out", stderr: "", exit_code: 3 },
  });
  expect(asked).toEqual([{ command: "echo", args: ["a b", "$HOME"], timeoutMs: 2_000 }]);
});

test("a model is asked with what was given, and its cost is the call's", async () => {
  expect(await call("core.llm.generate", { prompt: "Hi" })).toMatchObject({ code: "MCP_TOOL_UNKNOWN" });
  const generate: CoreToolsOptions["generate"] = async (request) => ({
    status: "succeeded",
    output: { completion: JSON.stringify(request), metrics: { token_usage: { prompt: 1, completion: 2, total: 3 } } },
    costMicro: 17,
  });
  const args = { prompt: "Hi", model: "mock:x", parameters: { temperature: 0 }, output_format: "json" };
  const outcome = await call("core.llm.generate", args, { generate });
  expect(outcome).toMatchObject({ costMicro: 17 });
  expect(JSON.parse(String(outputOf(outcome)["completion"]))).toEqual({
    prompt: "Hi",
    model: "mock:x",
    parameters: { temperature: 0 },
    outputFormat: "json",
  });
});

test("arguments are checked by the tool's own schema", async () => {
  const wrong: Json[] = [{}, { file_path: 7 }, { file_path: "a", file: "b" }, [], null];
  for (const args of wrong) {
    expect(await call(READ, args)).toMatchObject({ code: "MCP_ARGUMENTS_INVALID", effect: "none" });
  }
  expect(await call("core.state.getRuntimeVallue", {})).toMatchObject({
    code: "MCP_TOOL_UNKNOWN",
    message: expect.stringContaining("Did you mean `core.state.getRuntimeValue`?"),
  });
});

/** The contract of the twelve tools, as other engines have it: a whole input, and every field of the output. */
const CONTRACT: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ["framework.getConfigValue", { key: "k", component_id: "c" }, ["value"]],
  [
    "framework.logFrameworkMessage",
    {
      message: "m",
      level: "critical",
      context: { timestamp: "2026-11-22T00:00:00Z", level: "critical", component_name: "c", traceId: "t", more: 1 },
    },
    [],
  ],
  ["linux.executeCommand", { command: "true", args: ["a"], timeout_seconds: null }, ["exit_code", "stderr", "stdout"]],
  [
    "llm.generate",
    { prompt: "Hi", model: null, parameters: null, output_format: null, output_schema: null },
    ["completion", "metrics"],
  ],
  [
    "state.setDefinitionFileContent",
    { file_path: "workflows/a.yaml", content: "a: 1\n", commit_message: "m", author: null },
    ["resulting_revision"],
  ],
  [
    "state.getDefinitionFileContent",
    { file_path: "workflows/a.yaml", revision: null },
    ["content", "file_path", "revision"],
  ],
  [
    "state.applyDefinitionDiff",
    {
      file_path: "workflows/a.yaml",
      diff_content: "--- a\n+++ b\n@@ -1 +1 @@\n-a: 1\n+a: 2\n",
      expected_base_revision: "37b128c59f1f5097",
      commit_message: "m",
      author: "me",
    },
    ["resulting_revision"],
  ],
  [
    "state.listDefinitionDirectory",
    { dir_path: "workflows", recursive: true, revision: null },
    ["entries", "revision"],
  ],
  [
    "state.deleteDefinitionFile",
    { file_path: "workflows/a.yaml", commit_message: "m", author: null },
    ["resulting_revision"],
  ],
  ["state.setRuntimeValue", { key: "k", value: "v", ttl_seconds: null }, ["success"]],
  ["state.getRuntimeValue", { key: "k" }, ["found", "value"]],
  ["state.deleteRuntimeValue", { key: "k" }, ["success"]],
];

test("the twelve tools take and give what others know them by, and the changes of files are in the log", async () => {
  const notes: string[] = [];
  const tools = open({
    generate: async () => ({
      status: "succeeded",
      output: { completion: { parsed: true }, metrics: { token_usage: { prompt: 1, completion: 1, total: 2 } } },
      costMicro: 0,
    }),
    runCommand: async () => ({ stdout: "", stderr: "", exitCode: 0 }),
  });
  const found: (readonly [string, readonly string[]])[] = [];
  for (const [name, input] of CONTRACT) {
    const call = { arguments: { app_id: "a", ...input }, log: (event: Json) => void notes.push(JSON.stringify(event)) };
    const output = outputOf(await tools.call(`core.${name}`, call, NEVER));
    found.push([name, Object.keys(output).sort()]);
    if ("completion" in output) expect(output["completion"]).toBe('{"parsed":true}');
    const { outputSchema } = tools.tools.find((tool) => tool.name === `core.${name}`) ?? {};
    expect(outputSchema).toMatchObject({ additionalProperties: false });
  }
  expect(found).toEqual(CONTRACT.map(([name, , fields]) => [name, fields]));
  expect(notes).toHaveLength(4);
});

test("every tool keeps what it promises: schemas compile, outputs fit them, all hints are said", async () => {
  const validators = new JsonSchemas();
  const tools = open({
    generate: async () => ({
      status: "succeeded",
      output: { completion: "x", metrics: { token_usage: { prompt: 1, completion: 1, total: 2 } } },
      costMicro: 0,
    }),
    runCommand: async () => ({ stdout: "", stderr: "", exitCode: 0 }),
  });
  const arguments_: JsonObject = {
    file_path: "workflows/a.yaml",
    content: "a: 1",
    diff: "",
    key: "k",
    value: 1,
    prompt: "Hi",
    command: "true",
    message: "m",
  };
  for (const tool of tools.tools) {
    const { properties, required = [] } = tool.inputSchema as { properties: JsonObject; required?: readonly string[] };
    expect(Object.keys(properties)).toContain("app_id");
    const args = Object.fromEntries(required.map((name) => [name, arguments_[name] ?? null]));
    const outcome = await tools.call(tool.name, { arguments: args, log: () => undefined }, NEVER);
    const schema = await validators.compile(tool.outputSchema);
    if (!schema.ok) throw new Error(schema.message);
    if (outcome.status === "succeeded")
      expect([tool.name, await schema.validate(outcome.output)]).toEqual([tool.name, []]);
    else expect([tool.name, outcome.code]).toEqual(["core.state.applyDefinitionDiff", "MCP_ARGUMENTS_INVALID"]);
    expect(Object.values(tool.hints).every((hint) => typeof hint === "boolean")).toBe(true);
    expect(tool.title.length * tool.description.length).toBeGreaterThan(0);
  }
});

test("a failure of what a tool stands on keeps its code", async () => {
  const files = () => Promise.reject(new PawlError("JOURNAL_FULL", { message: "No room." }));
  expect(await call("core.state.getRuntimeValue", { key: "k" }, { files })).toMatchObject({ code: "JOURNAL_FULL" });
});

test("a tenant's run keeps values in the tenant's storage, and has none of the application's files", async () => {
  const files = new MemoryFileStorage();
  const step = agentTask({}, { tenantId: "a", files });
  const callFor = (name: string, args: Json) =>
    open().call(name, { arguments: args, step, log: () => undefined }, NEVER);
  for (const set of ["core.state.setRuntimeValue", "community.database.simple_kv.set"]) {
    await call(set, { key: "k", value: "the application's" });
    expect(await callFor(set.replace(".set", ".get"), { key: "k" })).toMatchObject({ output: { value: null } });
    await callFor(set, { key: "k", value: "the tenant's" });
    expect(await call(set.replace(".set", ".get"), { key: "k" })).toMatchObject({
      output: { value: "the application's" },
    });
    expect(await callFor(set.replace(".set", ".delete"), { key: "k" })).toMatchObject({ status: "succeeded" });
    expect(await callFor(set.replace(".set", ".get"), { key: "k" })).toMatchObject({ output: { value: null } });
    expect(await call(set.replace(".set", ".get"), { key: "k" })).toMatchObject({
      output: { value: "the application's" },
    });
  }
  const path = { file_path: "workflows/a.yaml" };
  for (const [name, given] of [
    [READ, path],
    [WRITE, { ...path, content: "x" }],
    [DIFF, { ...path, diff_content: "x" }],
    [DELETE, path],
    [LIST, {}],
  ] as const) {
    expect(await callFor(name, given)).toMatchObject({ code: "FORBIDDEN", effect: "none" });
  }
  expect(readFileSync(join(folder, "workflows/a.yaml"), "utf8")).toBe("startAt: a\n");
});

test("a definition has the files, and keeps the values, that it was granted", async () => {
  const granted = (grant: string) => {
    const step = agentTask({}, { settings: withGrant({}, grantOfText(grant)), files: new MemoryFileStorage() });
    return (name: string, args: Json) => open().call(name, { arguments: args, step, log: () => undefined }, NEVER);
  };
  const refused = { code: "NOT_GRANTED", message: expect.stringContaining("files and folders") };
  const callFor = granted("folders:workflows");
  expect(await callFor(READ, { file_path: "workflows/a.yaml" })).toMatchObject({ status: "succeeded" });
  expect(await callFor(LIST, { directory_path: "workflows" })).toMatchObject({ status: "succeeded" });
  for (const path of [
    "pawl.yaml",
    "workflows/../pawl.yaml",
    "./workflows/a.yaml",
    "workflows%2Fa.yaml",
    "workflows-2/a",
  ]) {
    expect(await callFor(READ, { file_path: path }), path).toMatchObject(refused);
    expect(await callFor(WRITE, { file_path: path, content: "x" }), path).toMatchObject(refused);
  }
  for (const path of [undefined, "", ".", "/", "workflows/.."]) {
    expect(await callFor(LIST, path === undefined ? {} : { dir_path: path }), path).toMatchObject(refused);
  }
  const [some, none] = [granted("storage:reports"), granted("storage:none")];
  for (const set of ["core.state.setRuntimeValue", "community.database.simple_kv.set"]) {
    expect(await some(set, { key: "k", value: 1 })).toMatchObject({ status: "succeeded" });
    expect(await none(set, { key: "k", value: 1 })).toMatchObject({ code: "NOT_GRANTED" });
  }
});

const storage = new MemoryFileStorage();

function open(more: Partial<CoreToolsOptions> = {}) {
  return createCoreTools({
    folder,
    forbidden: [join(folder, "kept")],
    files: async () => storage,
    configuration: {},
    ...more,
  });
}

function call(name: string, args: Json, more: Partial<CoreToolsOptions> = {}) {
  return open(more).call(name, { arguments: args, log: () => undefined }, NEVER);
}

function outputOf(outcome: Awaited<ReturnType<typeof call>>): Readonly<Record<string, Json | undefined>> {
  if (outcome.status === "failed") throw new Error(outcome.message);
  return outcome.output as JsonObject;
}
