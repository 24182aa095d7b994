import type { Graph } from "../../../core/graph/graph.ts";
import type { LiveNotice } from "../render/live/live-run.ts";

/**
 * Passes notices on, in order, and gives each call of another workflow the graph that it names. While a graph is read
 * the notices behind it wait.
 */
export class CallGraphs {
  readonly #read: (hash: string) => Promise<Graph>;
  readonly #listen: (notice: LiveNotice) => void;
  readonly #waiting: LiveNotice[] = [];
  readonly #known = new Set<string>();
  #reading: Promise<void> | undefined;

  constructor(read: (hash: string) => Promise<Graph>, listen: (notice: LiveNotice) => void) {
    this.#read = read;
    this.#listen = listen;
  }

  notice(notice: LiveNotice): void {
    if (this.#reading === undefined && this.#missing(notice) === undefined) {
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
    const hash = this.#missing(notice);
    if (hash === undefined) return notice;
    try {
      const graph = await this.#read(hash);
      this.#known.add(hash);
      return { ...notice, graph } as LiveNotice;
    } catch {
      // The view shows less; whoever drives the run says what is wrong.
      return notice;
    }
  }

  #missing(notice: LiveNotice): string | undefined {
    if (notice.type !== "event" || notice.event.type !== "callResolved") return undefined;
    return this.#known.has(notice.event.graph) ? undefined : notice.event.graph;
  }
}
