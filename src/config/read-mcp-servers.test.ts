import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeExact } from "../core/exact-json.ts";
import { readEntries, readMcpServers } from "./read-mcp-servers.ts";

test("the file of other programs is read as it is, and the configuration goes before it", async () => {
  const folder = application(
    writeExact({
      mcpServers: {
        files: {
          command: "npx",
          args: ["-y", "files"],
          env: { A: "1", PORT: 80, CHANNEL: 1234567890123456789n, DEBUG: true },
          disabled: false,
          autoApprove: ["x"],
        },
        off: { command: "npx", disabled: true },
        web: { type: "http", url: "http://127.0.0.1/mcp", headers: { Authorization: "Bearer x" } },
      },
      inputs: [],
    }),
  );
  const servers = await readMcpServers(folder, { web: { url: "http://127.0.0.1/other" }, own: { command: "own" } });
  expect(Object.fromEntries(servers)).toEqual({
    files: {
      origin: ".mcp.json",
      settings: {
        command: "npx",
        args: ["-y", "files"],
        env: { A: "1", PORT: "80", CHANNEL: "1234567890123456789", DEBUG: "true" },
      },
    },
    web: { origin: "pawl.yaml", settings: { url: "http://127.0.0.1/other" } },
    own: { origin: "pawl.yaml", settings: { command: "own" } },
  });
});

test("a broken entry keeps what is wrong with it, and harms no other", async () => {
  const folder = application(
    '{"mcpServers": {"bad": {"command": 7}, "worse": 1, "__proto__": {"command": "x"}, "good": {"command": "x"}}}',
  );
  const servers = await readMcpServers(folder, {});
  expect(servers.get("bad")).toEqual({
    origin: ".mcp.json",
    settings: { problem: expect.stringContaining("command") },
  });
  expect(servers.get("worse")).toEqual({
    origin: ".mcp.json",
    settings: { problem: expect.stringContaining("the entry") },
  });
  expect(servers.get("good")).toEqual({ origin: ".mcp.json", settings: { command: "x" } });
});

test("without the file, or without servers in it, there are those of the configuration", async () => {
  expect(await readMcpServers(application(undefined), {})).toEqual(new Map());
  expect(await readMcpServers(application("{}"), {})).toEqual(new Map());
});

for (const text of ["{", "[]", "null", '{"mcpServers": []}', '{"mcpServers": null}']) {
  test(`a file that holds ${text} is an error that names it`, async () => {
    await expect(readMcpServers(application(text), {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(".mcp.json"),
    });
  });
}

function application(text: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-servers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (text !== undefined) writeFileSync(join(folder, ".mcp.json"), text);
  return folder;
}

test("a key by which other programs switch tools off is not passed over", async () => {
  const entries = await readEntries(
    {
      a: { command: "a", disabledTools: ["delete"] },
      b: { command: "b", excludeTools: [] },
      c: { command: "c", enabled: false },
    },
    "the definition",
  );
  const problems = [...entries].map(([name, { settings }]) => [name, "problem" in settings && settings.problem]);
  expect(problems).toEqual([
    ["a", expect.stringContaining('write `tools: {"allow"')],
    ["b", expect.stringContaining("`excludeTools` is another program's word")],
  ]);
});
