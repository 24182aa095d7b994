import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ScreenView, TerminalViews, ViewWindow } from "../../ports/terminals/terminal-views.ts";

/** What callers ask who show terminals to a person. A change of the screen is sent only when it is asked for. */
export const TERMINAL_METHODS = [
  "listTerminals",
  "killTerminal",
  "typeTerminal",
  "watchScreen",
  "nextScreen",
  "resizeWindow",
  "closeScreen",
] as const;

export type TerminalMethod = (typeof TERMINAL_METHODS)[number];

/** Nobody has a larger one, and each of its cells costs time. */
const MAX_SIDE = 1_000;
/** Who looks at more at once is no person. */
const MAX_VIEWS = 16;

export function isTerminalMethod(method: string): method is TerminalMethod {
  return (TERMINAL_METHODS as readonly string[]).includes(method);
}

/** Terminals as one caller sees them; what he looks at ends with his connection. */
export class TerminalCalls {
  readonly #terminals: () => Promise<TerminalViews>;
  readonly #views = new Map<number, ScreenView>();
  #lastView = 0;
  #hasLeft = false;

  constructor(terminals: () => Promise<TerminalViews>) {
    this.#terminals = terminals;
  }

  async perform(method: TerminalMethod, params: JsonObject): Promise<Json> {
    switch (method) {
      case "listTerminals":
        return (await (await this.#terminals()).list()).map((session) => ({ ...session }));
      case "killTerminal":
        await (await this.#terminals()).kill(textOf(params, "session_id"));
        return null;
      case "typeTerminal":
        await (await this.#terminals()).type(textOf(params, "session_id"), textOf(params, "data"));
        return null;
      case "watchScreen":
        return { view: await this.#watch(textOf(params, "session_id"), windowOf(params)) };
      case "nextScreen":
        // What has no value is left out by JSON.
        return (await this.#viewOf(params).next()) as unknown as Json;
      case "resizeWindow":
        this.#viewOf(params).setWindow(windowOf(params));
        return null;
      case "closeScreen":
        this.#close(params);
        return null;
    }
  }

  leave(): void {
    this.#hasLeft = true;
    for (const view of this.#views.values()) view.close();
    this.#views.clear();
  }

  async #watch(sessionId: string, window: ViewWindow): Promise<number> {
    if (this.#views.size >= MAX_VIEWS) throw refused(`At most ${MAX_VIEWS} screens can be watched at once.`);
    const view = await (await this.#terminals()).watchScreen(sessionId, window);
    this.#lastView += 1;
    this.#views.set(this.#lastView, view);
    if (this.#hasLeft) this.leave();
    return this.#lastView;
  }

  #viewOf({ view }: JsonObject): ScreenView {
    const found = typeof view === "number" ? this.#views.get(view) : undefined;
    if (found === undefined) throw refused("`view` is a screen that is watched.");
    return found;
  }

  #close({ view }: JsonObject): void {
    if (typeof view !== "number") return;
    this.#views.get(view)?.close();
    this.#views.delete(view);
  }
}

function windowOf({ columns, rows }: JsonObject): ViewWindow {
  if (!isSide(columns) || !isSide(rows)) throw refused(`\`columns\` and \`rows\` are from 1 to ${MAX_SIDE}.`);
  return { columns, rows };
}

function isSide(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_SIDE;
}

function textOf(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw refused(`\`${name}\` is a text.`);
  return value;
}

function refused(message: string): PawlError {
  return new PawlError("USAGE", { message: `The owner refused a request: ${message}` });
}
