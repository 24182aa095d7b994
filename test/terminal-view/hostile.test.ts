import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { type LiveView, liveView } from "./live-view.ts";
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
  for await (const chunk of socket) text += String(chunk);
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: rest.join("\r\n\r\n") };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test("without the token nothing is told, and with it only to pages of this very place", async () => {
  const view = await liveView();
  const { session_id } = await openTerminal(view.terminals);
  const { token } = view;
  for (const path of ["/terminals", `/terminals/${session_id}/screen`, `/terminals/${session_id}/stream`]) {
    const statusOf = async (headers: Readonly<Record<string, string>>) => (await ask(view, path, headers)).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf(bearer(`${token}x`))).toBe(401);
    expect(await statusOf(bearer(token.slice(0, -1)))).toBe(401);
    for (const Host of ["evil.example", `evil.example:${view.base.port}`])
      expect(await statusOf({ ...bearer(token), Host })).toBe(403);
    for (const Origin of ["http://evil.example", "http://127.0.0.1:1", "null"])
      expect(await statusOf({ ...bearer(token), Origin })).toBe(403);
  }
  expect((await ask(view, "/ui/terminals", { Host: "evil.example" })).status).toBe(403);
  expect((await ask(view, "/terminals", bearer(token))).status).toBe(200);
});

test("the token opens terminals and nothing else of the service", async () => {
  const view = await liveView({ canType: true });
  const { session_id } = await openTerminal(view.terminals);
  const tricks = [
    ...["/runs", "/keys", "/recordings", "/settings", "/events", "/owner/terminals", "/metrics", "/workflows"],
    ...["/terminals/..%2fruns", "/terminals/../runs", "//terminals", "/terminals/", `/terminals/${session_id}/keys/x`],
    ...["/ui/assets/..%2f..%2fpackage.json", "/ui/assets/../../package.json", "/ui/assets/__proto__"],
    ...["/terminals/session_%00", "/terminals/__proto__", "/terminals/session_00000000", "/nothing"],
  ];
  for (const path of tricks) {
    for (const method of ["GET", "DELETE", "POST"]) {
      const { status } = await ask(view, path, bearer(view.token), method);
      expect([method, path, status]).toEqual([method, path, expect.toSatisfy((code: number) => code > 399)]);
    }
  }
  for (const path of ["/execute", "/workflows/run", "/mcp"])
    expect([path, (await ask(view, path, bearer(view.token), "POST")).status]).toEqual([path, 403]);
  expect(view.terminals.find(session_id)?.isRunning).toBe(true);
});

test("no answer lets the address with the token out, or takes anything from elsewhere in", async () => {
  const view = await liveView();
  const { session_id } = await openTerminal(view.terminals);
  for (const path of ["/ui/terminals", `/ui/terminals/${session_id}`]) {
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

test("who may only look can neither type nor end a program", async () => {
  const view = await liveView();
  const { session_id, screen } = await openTerminal(view.terminals);
  await expect(view.watch(session_id).type("echo typed\r")).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect((await ask(view, `/terminals/${session_id}`, bearer(view.token), "DELETE")).status).toBe(403);
  expect(await screen()).not.toContain("typed");
  expect(view.terminals.find(session_id)?.isRunning).toBe(true);
});

test("a viewer that never reads costs neither memory nor the program time, and others see everything", async () => {
  await printBesideIdleViewers(20_000_000);
});

test("hundreds of connections are turned away, and the view goes on", async () => {
  await knock(400);
});

test("a session that has ended is told, and is not found again", async () => {
  const view = await liveView();
  const { session_id, exit } = await openTerminal(view.terminals);
  const watcher = view.watch(session_id);
  await watcher.until("$");
  await exit();
  await watcher.ended;
  expect(watcher.events.at(-1)).toMatchObject({ event: "ended" });
  await expect(view.watch(session_id).ended).rejects.toMatchObject({ code: "TERMINAL_NOT_FOUND" });
});

test("beyond this machine nobody looks without a token that was chosen", async () => {
  await expect(liveView({ host: "0.0.0.0" })).rejects.toMatchObject({ code: "HOST_REFUSED" });
  const view = await liveView({ token: "a secret, with ümlauts %41 & signs" });
  expect((await ask(view, "/terminals", bearer(view.token))).status).toBe(200);
});
