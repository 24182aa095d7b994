import type { Graph } from "../../../../core/graph/graph.ts";
import { createPaint, type Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { renderSegments, widthOf } from "../text/text-width.ts";
import { type LiveNotice, LiveRun } from "./live-run.ts";
import { RunReport } from "./run-report.ts";

const REDRAW_MS = 100;

/** When a run that has begun nothing says why. */
const LATE_MS = 1_000;

export interface LiveViewOptions {
  /** Standard error, since standard output is for data. */
  readonly stream: Pick<NodeJS.WritableStream, "write"> & { readonly columns?: number };
  readonly isTty: boolean;
  readonly color: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Shows a run while it goes on: lines that are appended and, below them at a terminal, one that says what goes on now and is
 * drawn again in its place. Nothing that it is told can make it fail.
 */
export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #paint: Paint;
  readonly #report: RunReport;
  #timer: NodeJS.Timeout | undefined;
  /** The status line as it stands at the terminal. */
  #shown = "";
  #shownWidth = 0;

  constructor(graph: Graph, runId: string, options: LiveViewOptions) {
    this.#options = options;
    this.#paint = createPaint(options.color);
    this.#report = new RunReport(new LiveRun(graph), this.#paint);
    this.say(`run ${runId} of ${graph.name}`);
    // At a terminal the line below tells by itself.
    if (!options.isTty) setTimeout(() => this.notice({ type: "late", at: options.now() }), LATE_MS).unref();
  }

  /** Takes the host's notices as they come. A run that goes on is told its earlier events first; twice does no harm. */
  notice(notice: LiveNotice): void {
    this.#show(this.#report.tell(notice));
  }

  /** A message in between. */
  say(text: string): void {
    this.#show([sanitize(text)]);
  }

  /** Leaves the terminal to what is written next, until the next notice. */
  clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#shown !== "") this.#options.stream.write(this.#erase());
    this.#shown = "";
  }

  #show(lines: readonly string[]): void {
    const { stream, isTty } = this.#options;
    if (isTty) this.#timer ??= setInterval(() => this.#draw([]), REDRAW_MS).unref();
    if (isTty && lines.length > 0) this.#draw(lines);
    if (!isTty) for (const line of lines) stream.write(`${line}\n`);
  }

  #draw(lines: readonly string[]): void {
    const { stream, now } = this.#options;
    const segments = this.#report.status(now());
    // The last column stays free: some terminals break the line when it is written.
    const room = Math.max(1, (stream.columns || 80) - 1);
    const status = renderSegments(segments, room, this.#paint);
    if (lines.length === 0 && status === this.#shown) return;
    stream.write(`${this.#erase()}${lines.map((line) => `${line}\n`).join("")}${status}`);
    this.#shown = status;
    this.#shownWidth = Math.min(room, widthOf(segments.map(({ text }) => text).join("")));
  }

  /** A terminal that has become narrower since has broken the line into several. */
  #erase(): string {
    if (this.#shown === "") return "";
    const above = Math.ceil(this.#shownWidth / (this.#options.stream.columns || 80)) - 1;
    return `\r${above > 0 ? `\u001b[${above}A` : ""}\u001b[J`;
  }
}
