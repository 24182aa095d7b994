import { expect, test } from "vitest";
import { createPawlClient, type TerminalEvent } from "../../src/client/pawl-client.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { openTerminal, openTerminals } from "../end-to-end/terminals/open-terminals.ts";
import { codeOf, dataOf, keyFor } from "../fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../fakes/http-world.ts";
import { dataOf as dataIn, readEvents } from "../fakes/read-events.ts";

const ADMIN = { "x-api-key": "configured" };

async function withTerminal(options: HttpWorldOptions = {}) {
  const terminals = openTerminals({ level: "high" });
  const world = new HttpWorld([], { server: { api_key: "configured" }, terminals: terminals.views, ...options });
  const terminal = await openTerminal(terminals);
  const at = (path: string, init: RequestInit = {}) =>
    world.request(`/terminals/${terminal.session_id}${path}`, { headers: ADMIN, ...init });
  const type = (text: string) => at("/keys", { method: "POST", body: JSON.stringify({ text }) });
  return { world, terminals, terminal, at, type };
}

const TYPING: HttpWorldOptions = { terminal: { web_input: true } };

test("terminals are listed with whose they are and whether one may type", async () => {
  const { world, terminals, terminal } = await withTerminal();
  const call = { isInternal: true, owner: "0189-run", stepPath: "open", tenantId: "acme" };
  await terminals.call("open_terminal", { shell: "bash" }, call);
  const { items } = await dataOf(world.request("/terminals", { headers: ADMIN }));
  expect(items).toMatchObject([
    { session_id: terminal.session_id, run_id: null, step_path: null, command: "bash", can_type: false },
    { run_id: "0189-run", step_path: "open", tenant_id: "acme", columns: 120, rows: 30, web_url: null },
  ]);
});

test("a screen is its rows with their colours, and the cursor", async () => {
  const { terminal, at } = await withTerminal();
  await terminal.send("tput setaf 1; echo re''d; tput sgr0; echo do''ne\n");
  await terminal.wait("done");
  const { lines, ...screen } = await dataOf(at("/screen"));
  expect(lines).toContainEqual(expect.stringContaining("\u001b[0;38;5;1mred"));
  expect(lines).toHaveLength(30);
  expect(screen).toMatchObject({ columns: 120, rows: 30, cursor: { row: expect.any(Number) }, ended: false });
});

test("a stream begins with the screen, goes on with what comes, and says that it has ended", async () => {
  const { terminal, at, type } = await withTerminal(TYPING);
  await terminal.send("echo be''fore\n");
  await terminal.wait("before");
  let shown = "";
  const first = await readEvents(await at("/stream"), ({ event, data }) => {
    if (event === "screen") void type("echo af''ter\r");
    shown += JSON.parse(data).data ?? "";
    return shown.includes("after\r\n");
  });
  expect(first[0]).toMatchObject({ event: "screen" });
  expect(dataIn(first[0])).toMatchObject({ columns: 120, rows: 30, data: expect.stringContaining("before") });
  // Another connection needs nothing of the first one.
  const again = await readEvents(await at("/stream"), ({ event }) => {
    if (event === "screen") void type("exit 3\r");
    return event === "ended";
  });
  expect(dataIn(again[0])).toMatchObject({ data: expect.stringContaining("after") });
  expect(again.at(-1)).toMatchObject({ event: "ended", id: "ended" });
  expect(dataIn(again.at(-1))).toEqual({ exit_code: 3 });
  expect((await at("/stream", { headers: { ...ADMIN, "last-event-id": "ended" } })).status).toBe(204);
});

test("a client follows a terminal to its end, and begins with the screen again behind a lost connection", async () => {
  const { world, terminal, type } = await withTerminal(TYPING);
  let cut = () => {};
  const own: typeof fetch = async (input, init) => {
    const answer = await world.http.fetch(new Request(input, init));
    const wire = new TransformStream({
      start(connection) {
        cut = () => connection.terminate();
      },
    });
    return new Response(answer.body?.pipeThrough(wire) ?? null, answer);
  };
  const { followTerminal } = createPawlClient({ url: "http://localhost", apiKey: "configured", fetch: own });
  const seen: TerminalEvent[] = [];
  for await (const event of followTerminal(terminal.session_id)) {
    seen.push(event);
    if (seen.length === 1) cut();
    else if (event.event === "screen") void type("exit 3\r");
  }
  expect(seen.filter(({ event }) => event === "screen")).toHaveLength(2);
  expect(seen.at(-1)).toMatchObject({ event: "ended", data: { exit_code: 3 } });
  await expect(followTerminal("session_none").next()).rejects.toMatchObject({ code: "TERMINAL_NOT_FOUND" });
});

test("nobody types or ends anything where only looking is allowed", async () => {
  const { at, type } = await withTerminal();
  const refused = await type("rm\r");
  expect(refused.status).toBe(403);
  const { error } = (await refused.json()) as { readonly error: JsonObject };
  expect(error).toMatchObject({ code: "FORBIDDEN", remedy: expect.stringContaining("terminal.web_input") });
  expect(await codeOf(at("", { method: "DELETE" }))).toBe("FORBIDDEN");
});

test("what is typed goes by the rules of the terminals, and a session is ended for good", async () => {
  const { world, at, type } = await withTerminal(TYPING);
  expect(await codeOf(type("sudo id\r"))).toBe("TERMINAL_REFUSED");
  await dataOf(at("", { method: "DELETE" }));
  expect(await dataOf(world.request("/terminals", { headers: ADMIN }))).toMatchObject({ items: [] });
  for (const path of ["/screen", "/stream"]) expect((await at(path)).status).toBe(404);
});

test("neither a tenant nor a key without the scope sees a terminal or a recording", async () => {
  const { world, at } = await withTerminal(TYPING);
  const tenant = await keyFor(world, { scopes: ["admin"], tenant_id: "acme" }, ADMIN);
  const writer = await keyFor(world, { scopes: ["write"] }, ADMIN);
  for (const headers of [tenant, writer]) {
    const asked = ["/terminals", "/recordings", "/recordings/terminals/session_0.cast"];
    for (const path of asked) expect(await codeOf(world.request(path, { headers })), path).toBe("FORBIDDEN");
    for (const path of ["/screen", "/stream"]) expect(await codeOf(at(path, { headers })), path).toBe("FORBIDDEN");
    expect(await codeOf(at("/keys", { method: "POST", body: '{"text":"x"}', headers }))).toBe("FORBIDDEN");
    expect(await codeOf(at("", { method: "DELETE", headers }))).toBe("FORBIDDEN");
  }
});

test("recordings are listed, the latest first, and downloaded; other files are none", async () => {
  const world = new HttpWorld([], { server: { api_key: "configured" } });
  const { files } = world.world;
  const paths = ["artifacts/0189-a/session_1.cast", "terminals/session_2.cast", "artifacts/0189-a/session_1-2.cast"];
  for (const path of paths) await files.write(path, Buffer.from(`of ${path}`));
  await files.write("artifacts/0189-a/steps/x.cast", Buffer.from("no"));
  await files.write("notes.cast", Buffer.from("no"));
  const get = (path: string) => world.request(path, { headers: ADMIN });
  const whole = (await dataOf(get("/recordings")))["items"] as readonly JsonObject[];
  expect(whole.map(({ run_id, session_id }) => `${run_id} ${session_id}`).sort()).toEqual([
    "0189-a session_1",
    "0189-a session_1",
    "null session_2",
  ]);
  const first = await dataOf(get("/recordings?limit=2"));
  const rest = await dataOf(get(`/recordings?limit=2&cursor=${encodeURIComponent(String(first["next_cursor"]))}`));
  expect([first["items"], rest["items"]].flat()).toEqual(whole);
  expect(await (await get(`/recordings/${paths[1]}`)).text()).toBe("of terminals/session_2.cast");
  expect((await get("/recordings/notes.cast")).status).toBe(404);
});
