import type { Graph } from "../../../../core/graph/graph.ts";
import { sanitize } from "../text/sanitize.ts";
import { type LiveNotice, LiveRun, type LiveRunId } from "./live-run.ts";
import { PlainReport } from "./plain-report.ts";

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
