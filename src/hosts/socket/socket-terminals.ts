import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type {
  ScreenChange,
  ScreenView,
  TerminalSummary,
  TerminalViews,
  ViewWindow,
} from "../../ports/terminals/terminal-views.ts";
import type { TerminalMethod } from "./terminal-calls.ts";

type Call = (method: TerminalMethod, params: JsonObject) => Promise<Json>;

/** The terminals of another process. Throws what that one throws, and `OWNER_GONE` when it is gone. */
export class SocketTerminals implements TerminalViews {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  async list(): Promise<readonly TerminalSummary[]> {
    const listed = await this.#call("listTerminals", {});
    if (!Array.isArray(listed)) throw new Error("The owner answered listTerminals without a list.");
    return listed as unknown as readonly TerminalSummary[];
  }

  async watchScreen(sessionId: string, { columns, rows }: ViewWindow): Promise<ScreenView> {
    const watched = await this.#call("watchScreen", { session_id: sessionId, columns, rows });
    const view = isJsonObject(watched) ? watched["view"] : undefined;
    if (typeof view !== "number") throw new Error("The owner answered watchScreen without a number.");
    return new SocketScreen(this.#call, view);
  }

  async type(sessionId: string, data: string): Promise<void> {
    await this.#call("typeTerminal", { session_id: sessionId, data });
  }

  async kill(sessionId: string): Promise<void> {
    await this.#call("killTerminal", { session_id: sessionId });
  }
}

class SocketScreen implements ScreenView {
  readonly #call: Call;
  readonly #view: number;

  constructor(call: Call, view: number) {
    this.#call = call;
    this.#view = view;
  }

  async next(): Promise<ScreenChange> {
    const change = await this.#call("nextScreen", { view: this.#view });
    if (!isJsonObject(change) || !Array.isArray(change["rows"])) {
      throw new Error("The owner answered nextScreen without rows.");
    }
    return change as unknown as ScreenChange;
  }

  /** A connection that has dropped meanwhile is told by `next`. */
  setWindow({ columns, rows }: ViewWindow): void {
    this.#call("resizeWindow", { view: this.#view, columns, rows }).catch(() => undefined);
  }

  close(): void {
    this.#call("closeScreen", { view: this.#view }).catch(() => undefined);
  }
}
