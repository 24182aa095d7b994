import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../test/fakes/is-alive.ts";
import { openToolbox } from "../../../test/fakes/mcp-server/open-toolbox.ts";
import { fakeSettings, oldSettings } from "../../../test/fakes/mcp-server/server-entries.ts";
import { startFakeHttp } from "../../../test/fakes/mcp-server/start-http-server.ts";
import { namesIn, toolIn } from "../../../test/fakes/mcp-server/tool-in.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolboxOffer } from "../../ports/tools/agent-toolbox.ts";

const NEVER = new AbortController().signal;
const CALL = { idempotencyKey: "run:step:1" };

test("a server in plain Python of the revision 2024-11-05 is started by its ending, with the Python of its venv", async () => {
  const folder = scratchFolder();
  execFileSync("python3", ["-m", "venv", "--without-pip", join(folder, "venv")]);
  const { toolbox } = openToolbox();
  const servers = { plain: oldSettings(), venv: oldSettings([], { venv: "venv", cwd: "." }) };
  const offer = await toolbox.offer({ servers, folder }, NEVER);
  const inVenv = offer.tools.find(({ server, tool }) => server === "venv" && tool === "where");
  expect(JSON.parse((await inVenv?.call({}, CALL, NEVER))?.text ?? "")).toMatchObject({
    prefix: join(folder, "venv"),
    cwd: realpathSync(folder),
  });
  const { text } = await toolIn(offer, "where").call({}, CALL, NEVER);
  expect(JSON.parse(text).prefix).not.toBe(join(folder, "venv"));
});

test("files are started by their ending, and one that is missing is named", async () => {
  const folder = scratchFolder();
  const answer =
    '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}';
  writeFileSync(join(folder, "server.sh"), `read -r _; echo '${answer}'; cat >/dev/null\n`);
  writeFileSync(join(folder, "server.cjs"), `process.stdin.once("data", () => console.log('${answer}'));`);
  writeFileSync(join(folder, "server.ts"), `process.stdin.once("data", (_: Buffer) => console.log('${answer}'));`);
  writeFileSync(join(folder, "server"), `#!/bin/sh\nread -r _; echo '${answer}'; cat >/dev/null\n`, { mode: 0o755 });
  const names = ["server.sh", "server.cjs", "server.ts", "server", "missing.py"];
  const servers = Object.fromEntries(names.map((name) => [name, { server_path: name }]));
  const { toolbox } = openToolbox();
  const { missing } = await toolbox.offer({ servers, folder }, NEVER);
  expect(missing).toEqual([
    {
      server: "missing.py",
      failed: expect.objectContaining({
        message: expect.stringContaining(`there is no file ${join(folder, "missing.py")}`),
      }),
      isOptional: false,
    },
  ]);
});

test("tools that are none are left out with a warning, the others are offered in words that do no harm", async () => {
  const { toolbox } = openToolbox();
  const offer = await toolbox.offer({ servers: { old: oldSettings(["broken"]) } }, NEVER);
  const names = namesIn(offer);
  expect(names).toEqual(expect.arrayContaining(["whoami", "untyped", "strange_words"]));
  for (const broken of ["no_schema", "text_schema", "wrong_schema", "far_schema", "huge_schema"]) {
    expect(names).not.toContain(broken);
    expect(offer.warnings).toContainEqual(
      expect.stringContaining(`The MCP server "old": its tool "${broken}" was left out`),
    );
  }
  expect(offer.warnings).toHaveLength(7);
  const { description } = toolIn(offer, "strange_words");
  expect(description).toMatch(/^Deletes +nothing\nx+ \[cut\]$/);
  expect(description.length).toBeLessThan(8_100);
  expect(toolIn(offer, "untyped").inputSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
});

test("10,000 tools are too many, and a list that never ends is ended", async () => {
  const { toolbox } = openToolbox();
  const servers = { many: oldSettings(["many=10000"]), endless: oldSettings(["endless"]) };
  const offer = await toolbox.offer({ servers }, NEVER);
  const countOf = (wanted: string) => offer.tools.filter(({ server }) => server === wanted).length;
  expect([countOf("many"), countOf("endless")]).toEqual([1_000, 50]);
  expect(offer.warnings).toEqual([
    'The MCP server "many": only the first 1000 of its tools are used: there are too many.',
    'The MCP server "endless": its list of tools has more than 50 pages; the others were not asked for.',
  ]);
});

test("a server that says that its tools have changed is asked again", async () => {
  const { toolbox } = openToolbox();
  const servers = { old: oldSettings() };
  const offer = await toolbox.offer({ servers }, NEVER);
  await toolIn(offer, "grow").call({}, CALL, NEVER);
  expect(namesIn(await toolbox.offer({ servers }, NEVER))).toContain("grown");
});

test("answers for nobody and broken lines do no harm, and progress is passed on in measure", async () => {
  const { toolbox } = openToolbox();
  const offer = await toolbox.offer({ servers: { old: oldSettings() } }, NEVER);
  expect(await toolIn(offer, "wrong_ids").call({}, CALL, NEVER)).toMatchObject({ isError: false, text: "for you" });
  const heard: string[] = [];
  const call = { ...CALL, onProgress: (message: string) => heard.push(message) };
  expect(await toolIn(offer, "chatter").call({}, call, NEVER)).toMatchObject({ text: "enough" });
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.length).toBeLessThan(500);
  expect(Math.max(...heard.map(({ length }) => length))).toBeLessThan(600);
});

for (const [tool, why] of [
  ["garbage", "more than 20000 lines that are no messages"],
  ["flood", "more than 1000 unsolicited messages a second"],
  ["huge", "a message of more than 16 MiB"],
] as const) {
  test(`a server is ended that would drown us: ${tool}`, async () => {
    const { toolbox } = openToolbox();
    const offer = await toolbox.offer({ servers: { old: oldSettings() } }, NEVER);
    const pid = await pidOf(offer);
    const result = await toolIn(offer, tool).call({}, CALL, NEVER);
    expect(result).toMatchObject({ isError: true, outcomeUnknown: true, text: expect.stringContaining(why) });
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await pidOf(offer)).not.toBe(pid);
  });
}

for (const [tool, args, why] of [
  ["nest", { levels: 5_000 }, "The result of `fake.nest` is nested too deeply: more than 500 levels."],
  ["huge", { bytes: 100_000_000 }, "a message of more than 16 MiB"],
  ["structured_bytes", { bytes: 100_000_000 }, "a message of more than 16 MiB"],
  ["wrong_structure", {}, "does not fit its own schema. Do not rely on it:\n- /sum must be number"],
  ["no_structure", {}, "- the result has no structured content\n\n4"],
] as const) {
  test(`a result that cannot be used is an answer: ${tool}`, async () => {
    const { toolbox } = openToolbox();
    const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
    const result = await toolIn(offer, tool).call(args, CALL, NEVER);
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(why) });
    expect(await toolIn(offer, "say").call({ text: "here" }, CALL, NEVER)).toMatchObject({ text: "here" });
  });
}

test("an agent is told that an answer could not be read, and that nobody knows what the tool has done", async () => {
  const { toolbox } = openToolbox();
  const offer = await toolbox.offer({ servers: { old: oldSettings() } }, NEVER);
  const result = await toolIn(offer, "raw").call({ texts: ['{"jsonrpc":"2.0","id":ID,"result":NaN}'] }, CALL, NEVER);
  expect(result).toMatchObject({ isError: true, outcomeUnknown: true, text: expect.stringContaining('result\\":NaN') });
  expect(await toolIn(offer, "count_raw").call({}, CALL, NEVER)).toMatchObject({ text: "1" });
});

test("a server that never answers is given up after its time-out, and others hear nothing of it", async () => {
  const { toolbox } = openToolbox();
  const offer = await toolbox.offer({ servers: { old: oldSettings([], { timeout_ms: 20_000 }) } }, NEVER);
  const stop = AbortSignal.timeout(500);
  const silent = toolIn(offer, "silence").call({}, CALL, stop);
  expect(await whoIs(offer, "me")).toBe("me");
  expect(await silent).toMatchObject({ isError: true, outcomeUnknown: true });
});

test("a server that does not answer when nobody asks anything else of it is started again", async () => {
  const { toolbox } = openToolbox({}, { pingIntervalMs: 100, pingTimeoutMs: 300 });
  const offer = await toolbox.offer({ servers: { old: oldSettings() } }, NEVER);
  const pid = await pidOf(offer);
  await toolIn(offer, "deafen").call({}, CALL, NEVER);
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(await toolbox.states()).toMatchObject([{ lastFailure: expect.stringContaining("did not answer in time") }]);
  expect(await pidOf(offer)).not.toBe(pid);
});

test("a server that dies at once each time is left alone for longer and longer, and that is told", async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "dying.sh"), "echo x >> starts; exit 3\n");
  const { toolbox } = openToolbox();
  const servers = { dying: { server_path: "dying.sh", cwd: "." } };
  const reason = async () => (await toolbox.offer({ servers, folder }, NEVER)).missing[0]?.failed.message;
  await expect.poll(reason).toMatch(/exit code 3.*failed \d+ times.*tried again in \d+ s/s);
  expect(await toolbox.states()).toMatchObject([{ state: "waiting", restarts: 0, nextTryAt: expect.any(Number) }]);
  const countStarts = () => readFileSync(join(folder, "starts"), "utf8").length / 2;
  const before = countStarts();
  await Promise.all(Array.from({ length: 50 }, reason));
  expect([before, before + 1]).toContain(countStarts());
});

test("50 agents at once on three servers: every answer is for who asked", async () => {
  const { url } = await startFakeHttp();
  const { toolbox } = openToolbox();
  const servers: JsonObject = { old: oldSettings(), fake: fakeSettings(), web: { url } };
  const agents = Array.from({ length: 50 }, async (_, agent) => {
    const clients = [["old"], ["fake"], ["web"]][agent % 3];
    const offer = await toolbox.offer({ servers, clients }, NEVER);
    return await Promise.all(
      Array.from({ length: 10 }, async (_, turn) => {
        const caller = `agent ${agent}, call ${turn}`;
        if (clients?.[0] === "old") return (await whoIs(offer, caller)) === caller;
        const key = `run:${agent}:${turn}`;
        const { text } = await toolIn(offer, "echo").call({ caller }, { idempotencyKey: key }, NEVER);
        const { args, meta } = JSON.parse(text);
        return args.caller === caller && meta["pawl/idempotency-key"] === key;
      }),
    );
  });
  expect((await Promise.all(agents)).flat().filter((isRight) => !isRight)).toEqual([]);
  expect((await toolbox.states()).map(({ state, restarts }) => [state, restarts])).toEqual(
    Array.from({ length: 3 }, () => ["ready", 0]),
  );
});

async function whoIs(offer: ToolboxOffer, caller: string): Promise<string> {
  return JSON.parse((await toolIn(offer, "whoami").call({ caller }, CALL, NEVER)).text).you;
}

async function pidOf(offer: ToolboxOffer): Promise<number> {
  return JSON.parse((await toolIn(offer, "where").call({}, CALL, NEVER)).text).pid;
}

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
