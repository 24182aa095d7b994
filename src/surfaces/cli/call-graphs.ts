import type { Application } from "../../operations/application/application.ts";
import { readPinnedGraph } from "../../operations/repeat/read-pinned-graph.ts";
import type { LiveNotice } from "./render/live-run.ts";

/**
 * Passes notices on, in order, and gives each call of another workflow the graph that it names. While a graph is read
 * the notices behind it wait.
 */
export class CallGraphs {
  readonly #app: Application;
  readonly #listen: (notice: LiveNotice) => void;
  readonly #waiting: LiveNotice[] = [];
  #reading: Promise<void> | undefined;

  constructor(app: Application, listen: (notice: LiveNotice) => void) {
    this.#app = app;
    this.#listen = listen;
  }

  notice(notice: LiveNotice): void {
    if (this.#reading === undefined && !isCall(notice)) {
      this.#listen(notice);
      return;
    }
    this.#waiting.push(notice);
    this.#reading ??= this.#passOn();
  }

  /** Resolves when everything has been passed on. */
  async idle(): Promise<void> {
    await this.#reading;
  }

  async #passOn(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#listen(await this.#withGraph(next));
    }
    this.#reading = undefined;
  }

  async #withGraph(notice: LiveNotice): Promise<LiveNotice> {
    if (notice.type !== "event" || notice.event.type !== "callResolved") return notice;
    try {
      return { ...notice, graph: await readPinnedGraph(this.#app, notice.event.graph) };
    } catch {
      // The view shows less; whoever drives the run says what is wrong.
      return notice;
    }
  }
}

function isCall(notice: LiveNotice): boolean {
  return notice.type === "event" && notice.event.type === "callResolved";
}
