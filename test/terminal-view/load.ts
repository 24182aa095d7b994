import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { liveView, watch } from "./live-view.ts";

const MAX_VIEWERS = 100;

/** A program prints so much while some look on and never read; whoever reads sees its end, and the slow ones see the screen. */
export async function printBesideIdleViewers(bytes: number): Promise<void> {
  const view = await liveView();
  const { session_id, send, wait } = await openTerminal(view.terminals);
  const idle = await Promise.all([1, 2, 3].map(() => watch(view.socketUrlOf(session_id), { isReady: false })));
  for (const { socket } of idle) socket.pause();
  const reader = await watch(view.socketUrlOf(session_id));
  await send(`yes 0123456789012345678901234567890123456789 | head -c ${bytes}; echo done-$((1 + 1))\n`);
  expect((await wait("done-2", 50)).match_text).toBe("done-2");
  await reader.until(() => reader.shown.includes("done-2"));
  const [slow] = idle;
  slow?.socket.resume();
  for (let frames = 0; frames < 4; frames += 1) slow?.socket.send('{"type":"ready"}');
  await slow?.until(() => slow.shown.includes("done-2"));
  const sent = slow?.frames.reduce((sum, { data }) => sum + String(data ?? "").length, 0);
  expect(sent).toBeLessThan(1_500_000);
}

/** So many want to look at once, and only some may. */
export async function knock(count: number): Promise<void> {
  const view = await liveView();
  const { session_id, send } = await openTerminal(view.terminals);
  const watcher = await watch(view.socketUrlOf(session_id));
  let opened = 0;
  const sockets: WebSocket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.terminate();
  });
  for (let round = 0; round < count / MAX_VIEWERS; round += 1) {
    const batch = Array.from({ length: MAX_VIEWERS }, () => new WebSocket(view.socketUrlOf(session_id)));
    sockets.push(...batch);
    const outcomes = await Promise.allSettled(batch.map((socket) => once(socket, "open")));
    opened += outcomes.filter(({ status }) => status === "fulfilled").length;
  }
  expect(opened).toBe(MAX_VIEWERS - 1);
  await send("echo going-$((1 + 1))\n");
  await watcher.until(() => watcher.shown.includes("going-2"));
}
