import type { Graph } from "../../../../core/graph/graph.ts";
import { sanitize } from "../text/sanitize.ts";
import { type LiveNotice, LiveRun, type LiveRunId } from "./live-run.ts";
import { PlainReport } from "./plain-report.ts";
import type { TerminalStream } from "./screen.ts";
import { TtyView } from "./tty-view.ts";

/** Shows a run while it goes on. Nothing that it is told can make it fail. */
export interface LiveView {
  begin(graph: Graph, run: LiveRunId): void;
  /** Takes the host's notices as they come. A run that goes on is told its earlier events first; twice does no harm. */
  notice(notice: LiveNotice): void;
  /** A message in between, without disturbing the picture. */
  say(text: string): void;
  /** Leaves the last picture standing. `result` writes what stands above it, so that a long result does not push it away. */
  end(result?: () => void): Promise<void>;
}

export interface LiveViewOptions {
  /** Standard error, since standard output is for data. */
  readonly stream: TerminalStream;
  readonly isTty: boolean;
  readonly color: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

export function createLiveView(options: LiveViewOptions): LiveView {
  return options.isTty ? new TtyView(options) : new PlainView(options);
}

/** Lines that are appended, for logs and pipes: nothing moves and nothing is drawn twice. */
export class PlainView {
  readonly #stream: Pick<NodeJS.WritableStream, "write">;
  #report: PlainReport | undefined;

  constructor(options: { readonly stream: Pick<NodeJS.WritableStream, "write"> }) {
    this.#stream = options.stream;
  }

  begin(graph: Graph, run: LiveRunId): void {
    this.#report = new PlainReport(new LiveRun(graph, run));
    this.say(`run ${run.run_id} of ${run.workflow_name}`);
  }

  notice(notice: LiveNotice): void {
    for (const line of this.#report?.tell(notice) ?? []) this.#stream.write(`${line}\n`);
  }

  say(text: string): void {
    this.#stream.write(`${sanitize(text)}\n`);
  }

  async end(result?: () => void): Promise<void> {
    result?.();
  }
}
