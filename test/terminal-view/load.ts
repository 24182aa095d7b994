import { connect } from "node:net";
import { expect, onTestFinished } from "vitest";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { liveView } from "./live-view.ts";

const MAX_CONNECTIONS = 256;

/** A program prints so much while some look on and never read; a reader sees its end, and the slow ones see the screen. */
export async function printBesideIdleViewers(bytes: number): Promise<void> {
  const view = await liveView();
  const { session_id, send, wait } = await openTerminal(view.terminals);
  const address = new URL(`/terminals/${session_id}/stream`, view.base);
  const idle = await Promise.all([1, 2, 3].map(() => fetch(address, { headers: { "x-api-key": view.token } })));
  const reader = view.watch(session_id);
  await send(`yes 0123456789012345678901234567890123456789 | head -c ${bytes}; echo done-$((1 + 1))\n`);
  expect((await wait("done-2", 50)).match_text).toBe("done-2");
  await reader.until("done-2");
  let sent = "";
  for await (const chunk of idle[0]?.body ?? []) {
    sent += Buffer.from(chunk).toString();
    if (sent.includes("done-2")) break;
  }
  // What the sockets of the system hold, a screen and what the view has kept ready.
  expect(sent.length).toBeLessThan(Math.max(bytes, 4_000_000));
}

/** So many want to look at once, and only some may. */
export async function knock(count: number): Promise<void> {
  const view = await liveView();
  const { session_id, send } = await openTerminal(view.terminals);
  const watcher = view.watch(session_id);
  await watcher.until("$");
  let open = 0;
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(view.base.port), view.base.hostname);
    open += 1;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      open -= 1;
    });
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await expect.poll(() => open).toBe(MAX_CONNECTIONS - 1);
  await send("echo going-$((1 + 1))\n");
  await watcher.until("going-2");
}
