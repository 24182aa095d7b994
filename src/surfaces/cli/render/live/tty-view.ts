import type { Graph } from "../../../../core/graph/graph.ts";
import { createPaint, type Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { type LiveNotice, LiveRun, type LiveRunId } from "./live-run.ts";
import type { Screen, TerminalStream } from "./screen.ts";

const REDRAW_MS = 100;
/** Times that are shown go on while nothing happens. */
const TICK_MS = 1_000;

/** A picture that is drawn over and over on a terminal. The run never waits for it. */
export class TtyView {
  readonly #stream: TerminalStream;
  readonly #now: () => number;
  readonly #paint: Paint;
  readonly #loading: Promise<Screen>;
  #screen: Screen | undefined;
  #run: LiveRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly stream: TerminalStream; readonly color: boolean; now(): number }) {
    this.#stream = options.stream;
    this.#now = () => options.now();
    this.#paint = createPaint(options.color);
    // What draws is loaded while the run is already going.
    this.#loading = import("./screen.ts").then(({ openScreen }) => openScreen(this.#stream, this.#paint));
  }

  begin(graph: Graph, run: LiveRunId): void {
    this.#run = new LiveRun(graph, run);
    this.#stream.on("resize", this.#drawSoon);
    // Not to be able to draw is no reason to end; `end` reports it.
    this.#loading.then(
      (screen) => {
        this.#screen = screen;
        this.#draw();
      },
      () => undefined,
    );
  }

  notice(notice: LiveNotice): void {
    this.#run?.apply(notice);
    this.#drawSoon();
  }

  say(text: string): void {
    const line = sanitize(text);
    if (this.#screen === undefined) this.#stream.write(`${line}\n`);
    else this.#screen.persist(line);
  }

  async end(result?: () => void): Promise<void> {
    this.#stream.off("resize", this.#drawSoon);
    this.#screen ??= await this.#loading;
    this.#screen.clear();
    result?.();
    this.#draw();
    clearTimeout(this.#timer);
    this.#screen.close();
  }

  readonly #drawSoon = (): void => {
    if (this.#isDue || this.#screen === undefined) return;
    this.#isDue = true;
    this.#drawIn(Math.max(0, this.#drawnAt + REDRAW_MS - this.#now()));
  };

  #drawIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#draw(), delayMs);
    this.#timer.unref();
  }

  #draw(): void {
    if (this.#run === undefined || this.#screen === undefined) return;
    this.#isDue = false;
    this.#drawnAt = this.#now();
    this.#screen.draw(this.#run, this.#drawnAt);
    this.#drawIn(TICK_MS);
  }
}
