import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const KILLER = `
workflowId: killer
startAt: work
steps:
  work:
    type: mcp
    target: tools.work
    transitions: { onSuccess: done }
  done:
    type: control
    subtype: formatResponse
    data: { said: steps.work.output }
`;

/** Its one tool kills the `pawl` among its ancestors, until somebody has mended it. */
const TOOLS = `
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tool = { name: "work", description: "Works.", inputSchema: { type: "object" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tools", version: "1" } });
  else if (method === "tools/list") say(id, { tools: [tool] });
  else if (method === "tools/call" && existsSync("mended")) say(id, { content: [{ type: "text", text: "done" }] });
  else if (method === "tools/call") killPawl();
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: method } }));
});

function killPawl() {
  for (let pid = process.ppid; pid > 1; pid = Number(readFileSync("/proc/" + pid + "/stat", "utf8").split(") ")[1].split(" ")[1]))
    if (readFileSync("/proc/" + pid + "/cmdline", "utf8").match(/main[.]ts|pawl[.]cjs/)) return process.kill(pid, "SIGKILL");
}
`;

test("a run whose tool kills the process is held, `runs ls` says what to type, and that lets it go on", async () => {
  const servers = { tools: { command: process.execPath, args: ["tools.mjs"] } };
  const cwd = application({
    "workflows/killer.yaml": KILLER,
    "tools.mjs": TOOLS,
    ".mcp.json": JSON.stringify({ mcpServers: servers }),
  });
  const first = await startPawl(["run", "killer"], { cwd }).ended;
  expect(first).toMatchObject({ code: null });
  let deaths = 1;
  for (; deaths < 20; deaths += 1)
    if ((await startPawl(["runs", "resume", "--all"], { cwd }).ended).code !== null) break;
  expect(deaths).toBe(5);

  const { stdout: listed } = await pawl(["runs", "ls"], { cwd });
  const [, id = ""] = /held: "work#1" was in flight .* pawl runs resume (\S+)$/m.exec(listed) ?? [];
  expect(id, listed).not.toBe("");
  const { stdout: shown } = await pawl(["runs", "show", id], { cwd });
  expect(shown).toContain("POISON");
  expect((await pawl(["dead-letter", "ls"], { cwd })).stdout).toContain(`${id}:work#1`);

  writeFileSync(join(cwd, "mended"), "");
  const resumed = await pawl(["runs", "resume", id], { cwd });
  expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
  expect((await pawl(["dead-letter", "ls"], { cwd })).stdout).toContain("The dead-letter list is empty.");
  // Six processes one after the other, with pauses of a few seconds.
});
