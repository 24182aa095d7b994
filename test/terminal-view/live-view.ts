import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { serveTerminalView } from "../../src/app/executors/serve-terminal-view.ts";
import type { LoadedTerminalOptions } from "../../src/config/load-terminal-options.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { TerminalOptions, TerminalSurroundings } from "../../src/executors/terminal/terminal-options.ts";
import { openTerminals, type TestTerminals } from "../end-to-end/terminals/open-terminals.ts";

export interface LiveView {
  readonly terminals: TestTerminals;
  readonly base: URL;
  readonly token: string;
  /** Of the page that lists the terminals. */
  readonly listUrl: string;
  urlOf(sessionId: string): string;
  socketUrlOf(sessionId: string): string;
}

type Web = LoadedTerminalOptions["web"];

/** Terminals of this process with a live view of them; both end with the test. */
export async function liveView(
  web: Partial<Web> = {},
  options: Partial<TerminalOptions> = {},
  surroundings: Partial<TerminalSurroundings> = {},
): Promise<LiveView> {
  const terminals = openTerminals(options, surroundings);
  const view = await serveTerminalView({
    web: { enabled: true, host: "127.0.0.1", port: 0, token: undefined, canType: false, ...web },
    views: terminals.views,
    tell: () => undefined,
  });
  if (view === undefined) throw new Error("The view could not listen.");
  onTestFinished(() => view.close());
  const base = new URL(view.toWebUrl("session_0"));
  const token = base.searchParams.get("token") ?? "";
  return {
    terminals,
    base: new URL(base.origin),
    token,
    listUrl: `${base.origin}/terminals?token=${encodeURIComponent(token)}`,
    urlOf: (id) => view.toWebUrl(id),
    socketUrlOf: (id) => `ws://${base.host}/terminals/${id}/pty?token=${encodeURIComponent(token)}`,
  };
}

export interface Watcher {
  readonly socket: WebSocket;
  readonly frames: readonly JsonObject[];
  /** What has been shown since the screen was last shown anew. */
  readonly shown: string;
  readonly closed: Promise<number>;
  until(holds: () => boolean): Promise<void>;
  type(data: string): void;
}

/** Looks at a terminal as the page does. */
export async function watch(url: string, { isReady = true } = {}): Promise<Watcher> {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  const frames: JsonObject[] = [];
  let shown = "";
  const waiting = new Set<() => void>();
  const closed = new Promise<number>((resolve) => socket.on("close", (code) => resolve(code)));
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as Json;
    if (!isJsonObject(frame)) throw new Error("A frame is an object.");
    frames.push(frame);
    if (frame["type"] === "screen") shown = "";
    if (typeof frame["data"] === "string") {
      shown += frame["data"];
      if (isReady) socket.send('{"type":"ready"}');
    }
    for (const look of waiting) look();
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    socket,
    frames,
    get shown() {
      return shown;
    },
    closed,
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    type: (data) => socket.send(JSON.stringify({ type: "input", data })),
  };
}
