import { onTestFinished } from "vitest";
import { serveTerminalView } from "../../src/app/executors/serve-terminal-view.ts";
import { createPawlClient, type TerminalEvent } from "../../src/client/pawl-client.ts";
import type { LoadedTerminalOptions } from "../../src/config/load-terminal-options.ts";
import type { TerminalOptions, TerminalSurroundings } from "../../src/executors/terminal/terminal-options.ts";
import { openTerminals, type TestTerminals } from "../end-to-end/terminals/open-terminals.ts";
import { HttpWorld } from "../fakes/http-world.ts";

export interface LiveView {
  readonly terminals: TestTerminals;
  readonly base: URL;
  /** As it is sent. */
  readonly token: string;
  /** Of the page that lists the terminals. */
  readonly listUrl: string;
  urlOf(sessionId: string): string;
  /** Looks at a terminal as the page does. */
  watch(sessionId: string): Watcher;
}

interface Watcher {
  readonly events: readonly TerminalEvent[];
  /** What has been shown since the screen was last shown anew. */
  readonly shown: string;
  /** Resolves when the terminal has ended. */
  readonly ended: Promise<void>;
  type(text: string): Promise<unknown>;
  until(text: string): Promise<void>;
}

type Web = LoadedTerminalOptions["web"];

/** Terminals of this process with a live view of them; both end with the test. */
export async function liveView(
  web: Partial<Web> = {},
  options: Partial<TerminalOptions> = {},
  surroundings: Partial<TerminalSurroundings> = {},
): Promise<LiveView> {
  const terminals = openTerminals(options, surroundings);
  const { parts, defects } = new HttpWorld([], {
    terminals: terminals.views,
    terminal: { web_input: web.canType ?? false },
  });
  const view = await serveTerminalView({
    app: parts.app,
    web: { enabled: true, host: "127.0.0.1", port: 0, token: undefined, canType: false, ...web },
    tell: () => undefined,
    onDefect: (error) => defects.push(error),
  });
  if (view === undefined) throw new Error("The view could not listen.");
  onTestFinished(() => view.close());
  const page = new URL(view.toWebUrl("session_0"));
  const token = page.href.slice(page.href.indexOf("=") + 1);
  const base = new URL(page.origin);
  return {
    terminals,
    base,
    token,
    listUrl: `${base.origin}/ui/terminals?token=${token}`,
    urlOf: (id) => view.toWebUrl(id),
    watch: (id) => watch({ url: base.origin, apiKey: token }, id),
  };
}

function watch(server: { readonly url: string; readonly apiKey: string }, id: string): Watcher {
  const { call, followTerminal } = createPawlClient(server);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const events: TerminalEvent[] = [];
  const looking = new Set<() => void>();
  let shown = "";
  const follow = async () => {
    for await (const each of followTerminal(id, { signal: stop.signal })) {
      events.push(each);
      if (each.event === "screen") shown = "";
      if (each.event !== "ended") shown += each.data.data;
      for (const look of looking) look();
    }
  };
  const ended = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    events,
    get shown() {
      return shown;
    },
    ended,
    type: (text) => call("POST /terminals/{id}/keys", { id, text }),
    until: (text) =>
      new Promise((resolve) => {
        const look = () => shown.includes(text) && resolve();
        looking.add(look);
        look();
      }),
  };
}
