import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { type LiveView, liveView, watch } from "./live-view.ts";
import { knock, printBesideIdleViewers } from "./load.ts";

/** What a request is answered, with a path and headers exactly as given. */
async function ask({ base }: LiveView, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const socket = connect(Number(base.port), base.hostname);
  onTestFinished(() => {
    socket.destroy();
  });
  const all = { Host: base.host, Connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.startsWith("HTTP/1.1 101")) break;
  }
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: rest.join("\r\n\r\n") };
}

const UPGRADE = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

test("without the token nothing is told, and with it only to pages of this very place", async () => {
  const view = await liveView();
  const { session_id } = await openTerminal(view.terminals);
  const { token } = view;
  const paths = ["/terminals", `/terminals/${session_id}`, `/terminals/${session_id}/pty`];
  for (const path of paths) {
    const upgrade = path.endsWith("/pty") ? UPGRADE : {};
    const statusOf = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
      (await ask(view, `${path}${query}`, { ...upgrade, ...headers })).status;
    expect(await statusOf("")).toBe(401);
    expect(await statusOf("?token=")).toBe(401);
    expect(await statusOf(`?token=${token}x`)).toBe(401);
    expect(await statusOf(`?token=${token.slice(0, -1)}`)).toBe(401);
    expect(await statusOf(`?token=x&token=${token}`)).toBe(401);
    expect(await statusOf(`?token=${token}`, { Host: "evil.example" })).toBe(403);
    expect(await statusOf(`?token=${token}`, { Host: `evil.example:${view.base.port}` })).toBe(403);
    expect(await statusOf(`?token=${token}`, { Host: "" })).not.toBe(200);
    expect(await statusOf(`?token=${token}`, { Origin: "http://evil.example" })).toBe(403);
    expect(await statusOf(`?token=${token}`, { Origin: "http://127.0.0.1:1" })).toBe(403);
    expect(await statusOf(`?token=${token}`, { Origin: "null" })).toBe(403);
  }
  expect((await ask(view, "/terminals/assets/style.css", { Host: "evil.example" })).status).toBe(403);
});

test("no answer lets the address with the token out, or takes anything from elsewhere in", async () => {
  const view = await liveView();
  const { session_id } = await openTerminal(view.terminals);
  for (const path of ["/terminals", `/terminals/${session_id}`, "/nothing"]) {
    const { head, body } = await ask(view, `${path}?token=${view.token}`);
    expect(head).toContain("referrer-policy: no-referrer");
    expect(head).toContain("x-frame-options: deny");
    expect(head).toContain("default-src 'none'; script-src 'self';");
    expect(head).not.toContain("set-cookie");
    expect(head).not.toContain("access-control-allow");
    expect(body).not.toContain(view.token);
    expect(body).not.toMatch(/https?:/);
  }
});

test("paths lead nowhere but to the pages", async () => {
  const view = await liveView({ canType: true });
  const { session_id } = await openTerminal(view.terminals);
  const tricks = [
    ...["/terminals/..%2f..%2fpackage.json", "/terminals/assets/../list.html", "/terminals/assets/..%2flist.html"],
    ...["/terminals/assets/__proto__", "/terminals/assets/constructor", "/terminals/assets/list.html"],
    ...["/terminals/session_%00", "/terminals/%73", "//terminals", "/terminals/", `/terminals/${session_id}/`, "/"],
    ...["/terminals/__proto__", `/terminals/${"a".repeat(5_000)}`, "/terminals/session_00000000"],
  ];
  for (const path of tricks) {
    for (const method of ["GET", "DELETE"]) {
      const { status } = await ask(view, `${path}?token=${view.token}`, {}, method);
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code === 404 || code === 405)]);
    }
    expect((await ask(view, `${path}/pty?token=${view.token}`, UPGRADE)).status).toSatisfy(
      (code: number) => code === 404 || code === 101,
    );
  }
  expect((await ask(view, `/terminals?token=${view.token}`, {}, "POST")).status).toBe(405);
  expect(view.terminals.find(session_id)?.isRunning).toBe(true);
});

test("who may only look can neither type nor end a program", async () => {
  const view = await liveView();
  const { session_id, screen } = await openTerminal(view.terminals);
  const watcher = await watch(view.socketUrlOf(session_id));
  watcher.type("echo typed\r");
  await watcher.until(() => watcher.frames.some(({ type }) => type === "refused"));
  expect((await ask(view, `/terminals/${session_id}?token=${view.token}`, {}, "DELETE")).status).toBe(403);
  expect(await screen()).not.toContain("typed");
  expect(view.terminals.find(session_id)?.isRunning).toBe(true);
});

test.each([
  ["text that is no JSON", "{", 1008],
  ["JSON that is no message", '"ready"', 1008],
  ["an unknown kind", '{"type":"resize","columns":1}', 1008],
  ["an input that is no text", '{"type":"input","data":{"toString":"x"}}', 1008],
  ["bytes", Buffer.from('{"type":"ready"}'), 1008],
  ["a message of 200 KB", `{"type":"input","data":"${"a".repeat(200_000)}"}`, 1009],
])("%s ends the connection and nothing else", async (_, message, code) => {
  const view = await liveView({ canType: true });
  const { session_id, send, wait } = await openTerminal(view.terminals);
  const [bad, good] = await Promise.all([watch(view.socketUrlOf(session_id)), watch(view.socketUrlOf(session_id))]);
  bad.socket.send(message);
  expect(await bad.closed).toBe(code);
  await send("echo still-$((1 + 1))\n");
  await wait("still-2");
  await good.until(() => good.shown.includes("still-2"));
});

test("a viewer that never reads costs neither memory nor the program time, and others see everything", async () => {
  await printBesideIdleViewers(4_000_000);
});

test("hundreds of connections are turned away, and the view goes on", async () => {
  await knock(400);
});

test("input that pours in is typed in order, and held back rather than piled up", async () => {
  const view = await liveView({ canType: true });
  const { session_id, wait } = await openTerminal(view.terminals, "cat");
  const watcher = await watch(view.socketUrlOf(session_id));
  for (let line = 0; line < 300; line += 1) watcher.type(`line ${line}\r`);
  await wait("^line 299");
  const { screen_content } = await view.terminals.call("get_screen_content", { session_id, content_mode: "history" });
  const seen = [...(screen_content ?? "").matchAll(/line (\d+)/g)].map(([, number]) => Number(number));
  expect([...new Set(seen)]).toEqual(Array.from({ length: 300 }, (_, line) => line));
});

test("whoever watches a session that is ended hears of it", async () => {
  const view = await liveView();
  const { session_id, exit } = await openTerminal(view.terminals);
  const watcher = await watch(view.socketUrlOf(session_id));
  await watcher.until(() => watcher.frames.some(({ type }) => type === "screen"));
  await exit();
  expect(await watcher.closed).toBe(4000);
  expect(watcher.frames.at(-1)).toMatchObject({ type: "ended" });
  expect(await (await watch(view.socketUrlOf(session_id))).closed).toBe(4404);
});

test("beyond this machine nobody looks without a token that was chosen", async () => {
  await expect(liveView({ host: "0.0.0.0" })).rejects.toMatchObject({ code: "HOST_REFUSED" });
  const view = await liveView({ token: "a-secret-of-some-length" });
  expect((await ask(view, "/terminals?token=a-secret-of-some-length")).status).toBe(200);
});
