import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../../test/fakes/is-alive.ts";
import { openToolbox } from "../../../../test/fakes/mcp-server/open-toolbox.ts";
import { everythingSettings, fakeSettings, oldSettings } from "../../../../test/fakes/mcp-server/server-entries.ts";
import { namesIn, toolIn } from "../../../../test/fakes/mcp-server/tool-in.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ToolboxOffer } from "../../../ports/tools/agent-toolbox.ts";

const NEVER = new AbortController().signal;
const CALL = { idempotencyKey: "run:step:1" };

/** Shared by tests that do not mind who was there before: to start a server is what takes the time. */
const SHARED = openToolbox({}, {}, (close) => afterAll(close));

test("an agent is shown the tools of the servers that it names, and absent means all, empty none", async () => {
  const { toolbox } = SHARED;
  const servers = { one: oldSettings(["tools=alpha,beta"]), two: oldSettings(["tools=gamma"]) };
  const shown = async (clients?: readonly string[]) => namesIn(await toolbox.offer({ servers, clients }, NEVER));
  expect(await shown()).toEqual(["alpha", "beta", "gamma"]);
  expect(await shown(["two"])).toEqual(["gamma"]);
  expect(await shown(["two", "one"])).toEqual(["alpha", "beta", "gamma"]);
  expect(await shown([])).toEqual([]);
});

test.each(["legacy", "2026-07-28"])(
  "what a server says of its tools is told, cleaned and bounded, without what is secret (%s)",
  async (protocol) => {
    const said = `Look first.\u001b[2J\u202e\nMy key is s3cret.${"x".repeat(9_000)}`;
    const env = { API_KEY: "s3cret" };
    const talks = fakeSettings([`instructions=${said}`, "tools=alpha"], { protocol, env });
    const servers = { talks, mute: fakeSettings(["tools=beta"], { protocol }) };
    const { instructions = [] } = await SHARED.toolbox.offer({ servers }, NEVER);
    expect(instructions.map(({ server }) => server)).toEqual(["talks"]);
    expect(instructions[0]?.text).toMatch(/^Look first\.\nMy key is \[?[^s]*\]?\.x+ \[cut\]$/);
    expect(instructions[0]?.text.length).toBeLessThan(8_010);
  },
);

test("a server is told of whose trace a call is", async () => {
  const { toolbox } = SHARED;
  const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
  const { text } = await toolIn(offer, "echo").call({ x: 1 }, { ...CALL, traceParent }, NEVER);
  expect(text).toContain(traceParent);
});

test("a server that is not there is told of, and the others are offered", async () => {
  const { toolbox } = SHARED;
  const servers = {
    fake: oldSettings(["tools=alpha"]),
    gone: { command: "/no/such/program" },
    unset: { url: `http://127.0.0.1:1/${variable("NO_SUCH_NAME")}` },
    odd: { command: 7 },
    spare: { command: "/no/such/program", required: false },
  };
  const offer = await toolbox.offer({ servers, clients: ["fake", "gone", "unset", "odd", "spare", "fakes"] }, NEVER);
  expect(namesIn(offer)).toEqual(["alpha"]);
  const told = offer.missing.map(({ server, failed, isOptional }) => [server, [failed.message, isOptional]]);
  expect(Object.fromEntries(told)).toEqual({
    gone: [expect.stringContaining("ENOENT"), false],
    unset: [expect.stringContaining("NO_SUCH_NAME"), false],
    odd: [expect.stringContaining("command"), false],
    spare: [expect.stringContaining("ENOENT"), true],
    fakes: ['No MCP server is called "fakes". Did you mean `fake`?', false],
  });
});

test("of two servers with one tool the heavier has the name, and both have qualified ones", async () => {
  const { toolbox } = SHARED;
  const servers = {
    light: oldSettings(["tools=search"]),
    heavy: oldSettings(["tools=search"], { routing_weight: 5 }),
  };
  const offer = await toolbox.offer({ servers }, NEVER);
  expect(offer.tools.map(({ name, server }) => [name, server])).toEqual([
    ["mcp__light__search", "light"],
    ["search", "heavy"],
  ]);
  expect(offer.tools[1]?.aliases).toContain("heavy.search");
});

test("what is excluded by a server or an agent is not offered, by any of its names", async () => {
  const { toolbox } = SHARED;
  const servers = {
    one: oldSettings(["tools=alpha,beta,gamma"], { exclude: ["alpha"] }),
    two: oldSettings(["tools=delta,epsilon"]),
  };
  const offer = await toolbox.offer({ servers, exclude: ["one.beta", "mcp__two__del*"] }, NEVER);
  expect(namesIn(offer)).toEqual(["gamma", "epsilon"]);
  expect(offer.idle).toEqual([]);
  const renamed = { one: oldSettings(["tools=alpha,beta"], { exclude: ["alhpa", "b*"] }) };
  expect((await toolbox.offer({ servers: renamed, exclude: ["gamma", "alpha"] }, NEVER)).idle).toEqual([
    "gamma",
    "alhpa",
  ]);
});

test("a call brings what the tool said, of every kind, as a text for the model", async () => {
  const { toolbox } = SHARED;
  const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
  const sound = await toolIn(offer, "sound").call({}, CALL, NEVER);
  expect(sound).toMatchObject({ isError: false });
  expect(sound.text.split("\n")).toEqual([
    "Listen:",
    "[audio, audio/x-wav, 4 bytes, not as text]",
    "[resource file:///a.txt, text/plain]",
    "inside",
    "[link to a resource: https://example.com/b (b)]",
  ]);
  expect(sound.content).toHaveLength(4);
  expect(await toolIn(offer, "add").call({ a: 2, b: 3 }, CALL, NEVER)).toMatchObject({
    text: '{"sum":5}',
    structured: { sum: 5 },
  });
  expect(await toolIn(offer, "fail").call({}, CALL, NEVER)).toMatchObject({
    isError: true,
    text: "The disk is on fire.",
    structured: { shelf: 7 },
  });
});

test("wrong arguments come back as an error that the model can mend, and never reach the server", async () => {
  const { toolbox } = SHARED;
  const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
  const result = await toolIn(offer, "add").call({ a: "two" }, CALL, NEVER);
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining("/a must be number") });
  expect(result.outcomeUnknown).toBeUndefined();
});

test("a server that dies in a call leaves the outcome unknown, and the tools say which may be repeated", async () => {
  const { toolbox } = openToolbox();
  const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
  const result = await toolIn(offer, "die").call({}, CALL, NEVER);
  expect(result).toMatchObject({ isError: true, outcomeUnknown: true });
  expect(result.text).toContain("exit code 7");
  expect(result.text).toContain("not known whether");
  expect(toolIn(offer, "die").isRepeatable).toBe(false);
  expect(toolIn(offer, "die_repeatable").isRepeatable).toBe(true);
  expect(await toolIn(offer, "say").call({ text: "I am back" }, CALL, NEVER)).toMatchObject({ text: "I am back" });
});

test("a cancelled call is a result, whose outcome nobody knows", async () => {
  const { toolbox } = SHARED;
  const offer = await toolbox.offer({ servers: { fake: fakeSettings() } }, NEVER);
  const stop = new AbortController();
  const heard = Promise.withResolvers<string>();
  const call = { ...CALL, onProgress: heard.resolve };
  const stopped = toolIn(offer, "work").call({ steps: 1_000, delay_ms: 20 }, call, stop.signal);
  expect(await heard.promise).toBe("1 of 1000: step 1");
  stop.abort();
  expect(await stopped).toMatchObject({ isError: true, outcomeUnknown: true });
});

test("equal settings share one process for all, and changed ones get their own while the others go on", async () => {
  const { toolbox } = openToolbox();
  const settings = fakeSettings();
  const first = await toolbox.offer({ servers: { fake: settings } }, NEVER);
  const second = await toolbox.offer({ servers: { fake: { ...settings }, more: fakeSettings() } }, NEVER);
  const changed = await toolbox.offer({ servers: { fake: { ...settings, env: { MODE: "new" } } } }, NEVER);
  const pids = await Promise.all([first, second, changed].map(pidOf));
  expect(pids[0]).toBe(pids[1]);
  expect(pids[2]).not.toBe(pids[0]);
  expect(await pidOf(first)).toBe(pids[0]);
});

test("settings are filled in when they are used, and what is secret in them does not come back", async () => {
  const { toolbox } = openToolbox({ MY_TOKEN: "a-secret-token" });
  const servers = { fake: fakeSettings([], { env: { TOKEN: variable("MY_TOKEN") } }) };
  const offer = await toolbox.offer({ servers }, NEVER);
  const { text, structured } = await toolIn(offer, "process").call({}, CALL, NEVER);
  expect(structured).toMatchObject({ token: "[redacted]" });
  expect(text).not.toContain("a-secret-token");
});

test("a server that asks is told its roots; folders are those of the definition", async () => {
  const { toolbox } = SHARED;
  const roots = ["data", { uri: "file:///srv", name: "served" }, "weather://"];
  const servers = { everything: everythingSettings({ roots }) };
  const offer = await toolbox.offer({ servers, folder: "/tmp" }, NEVER);
  const told = async () => (await toolIn(offer, "get-roots-list").call({}, CALL, NEVER)).text;
  // It asks for them after it has been connected.
  await expect.poll(told).toContain("file:///tmp/data");
  expect(await told()).toMatch(/served.*file:\/\/\/srv/s);
});

test("the state of each server is told, without connecting any", async () => {
  const { toolbox } = openToolbox();
  const servers = { fake: oldSettings(["tools=alpha,beta"]), gone: { command: "/no/such/program" } };
  expect(await toolbox.states()).toEqual([]);
  await toolbox.offer({ servers }, NEVER);
  expect(await toolbox.states()).toMatchObject([
    {
      server: "fake",
      transport: "stdio",
      reached: expect.stringContaining("old_server.py tools=alpha,beta"),
      state: "ready",
      tools: [{ name: "alpha" }, { name: "beta" }],
      callsInFlight: 0,
      restarts: 0,
    },
    { server: "gone", transport: "stdio", state: "failed", lastFailure: expect.stringContaining("ENOENT") },
  ]);
});

test("those that start early are connected before anybody asks, and start again by themselves", async () => {
  const { toolbox } = openToolbox();
  const eager = fakeSettings([], { start: "eager" });
  toolbox.hold("agents.json", { servers: { eager, lazy: oldSettings(["tools=alpha"]) } });
  const stateOf = async () => (await toolbox.states()).map(({ server, state }) => `${server} ${state}`);
  await expect.poll(stateOf).toEqual(["eager ready"]);
  const offer = await toolbox.offer({ servers: { eager } }, NEVER);
  process.kill(await pidOf(offer), "SIGKILL");
  const restarts = async () => (await toolbox.states()).map(({ state, restarts }) => [state, restarts]);
  await expect.poll(restarts).toEqual([["ready", 1]]);
});

test("a server that nobody uses is closed, and connected again when it is needed", async () => {
  const { toolbox } = openToolbox({}, { idleMs: 200 });
  const servers = { fake: fakeSettings() };
  const offer = await toolbox.offer({ servers }, NEVER);
  const pid = await pidOf(offer);
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(await toolIn(offer, "say").call({ text: "again" }, CALL, NEVER)).toMatchObject({ text: "again" });
});

/** An entry as in a file. */
function variable(name: string): string {
  return `$\{${name}}`;
}

async function pidOf(offer: ToolboxOffer): Promise<number> {
  const { structured } = await toolIn(offer, "process").call({}, CALL, NEVER);
  return Number(Object(structured).pid);
}

describe("a server that renames a tool while it runs", () => {
  /** Its tools are those of a file, which it says to have changed when `grow` is called. */
  function renaming(more: JsonObject = {}) {
    const folder = mkdtempSync(join(tmpdir(), "pawl-tools-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "tools");
    const have = (names: string) => writeFileSync(file, names);
    return { have, servers: { shop: oldSettings([`tools-file=${file}`], more) } };
  }

  test("does not open it, though the pattern that excluded it still matches another", async () => {
    const { toolbox } = openToolbox();
    const { have, servers } = renaming();
    const offered = async () => await toolbox.offer({ servers, exclude: ["shop.delete_*"] }, NEVER);
    have("delete_one delete_all read");
    const first = await offered();
    expect(namesIn(first)).toEqual(["grow", "read", "where"]);
    have("delete_one remove_all read");
    await toolIn(first, "grow").call({}, CALL, NEVER);
    const changed = await offered();
    expect(namesIn(changed)).toEqual(["grow", "read", "where"]);
    expect(changed.warnings).toEqual([expect.stringContaining('its tool "remove_all" is closed')]);
    have("delete_one delete_all read write");
    await toolIn(first, "grow").call({}, CALL, NEVER);
    expect(namesIn(await offered())).toContain("write");
  });

  test("does not open it when it was connected again", async () => {
    const { toolbox } = openToolbox();
    const { have, servers } = renaming({ exclude: ["delete_*"] });
    have("delete_one delete_all");
    const first = await toolbox.offer({ servers }, NEVER);
    const { pid } = JSON.parse((await toolIn(first, "where").call({}, CALL, NEVER)).text);
    have("delete_one remove_all");
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(namesIn(await toolbox.offer({ servers }, NEVER))).toEqual(["grow", "where"]);
  });
});
