import type { Context } from "hono";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import type { JsonObject } from "../../../core/json.ts";
import { watchAgentsRun } from "../../../operations/agents/watch-agents-run.ts";
import type { Place, Principal, Stores } from "../../../operations/application/ports.ts";
import type { RunRequest } from "../../../operations/start/submit-run.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { answerEventStream, type SentEvent } from "../service/event-stream.ts";

/** A run that a client is told of while it lasts. */
export interface ToldRun {
  readonly app: Place & Principal & Stores;
  readonly graph: Graph;
  readonly request: RunRequest;
  /** Nothing of the steps and tools inside, but what agents and models say. */
  readonly textsOnly?: boolean;
  /** How the run has ended, or how it stands where it waits. */
  answer(record: RunRecord): Promise<object>;
}

export function wantsEvents(c: Context<HttpEnv>): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(c.req.header("accept") ?? "");
}

/** What is refused has its own status: the stream begins with the run. A client that leaves hears no more; the run goes on. */
export async function tellRun(parts: HttpParts, c: Context<HttpEnv>, told: ToldRun): Promise<Response> {
  const { app, graph, request, textsOnly = false, answer } = told;
  const events = new EventQueue();
  const listen = watchAgentsRun(graph, (news) => {
    const isText = news.event === "text";
    if (isText || !textsOnly) events.push(news, { mayBeLost: isText });
  });
  const prepared = Promise.withResolvers<string>();
  const prepare = async (id?: string) => {
    const startable = await request.prepare(id);
    const { runId } = startable.start;
    events.push({ event: "status", data: { run_id: runId, status: "running" } });
    prepared.resolve(runId);
    return startable;
  };
  const running = parts.submissions.run(app, { ...request, prepare }, listen);
  const run_id = await Promise.race([prepared.promise, running.then(({ runId }) => runId)]);
  c.set("runId", run_id);
  const work = async () => {
    const { ran } = await running;
    if (ran.is === "unanswered") throw ran.error;
    if (ran.is === "parked") events.push({ event: "status", data: { run_id, status: ran.record.status } });
    else events.push({ event: "result", data: await answer(ran.record) });
  };
  work()
    .catch((error: unknown) => events.push({ event: "error", data: explain(parts, error, run_id) }))
    .finally(() => {
      events.push({ event: "end", data: {} });
      events.close();
    });
  return answerEventStream(parts, (stop) => events.read(stop));
}

function explain({ onDefect }: HttpParts, error: unknown, run_id: string): JsonObject {
  if (isPawlError(error)) return { code: error.code, message: error.message, run_id };
  onDefect(error);
  return { code: "INTERNAL", message: "The server has met a defect.", run_id };
}

const MAX_WAITING = 1_000;

/** Events on their way to a client that takes them one by one. Nothing is kept for one that has left. */
class EventQueue {
  #waiting: SentEvent[] = [];
  #isClosed = false;
  #wake: () => void = () => undefined;

  /** An event that `mayBeLost` is left out for a client that reads too slowly. */
  push(event: SentEvent, { mayBeLost = false } = {}): void {
    if (this.#isClosed || (mayBeLost && this.#waiting.length >= MAX_WAITING)) return;
    this.#waiting.push(event);
    this.#wake();
  }

  /** Nothing more comes. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** All that comes until `stop`. */
  read(stop: AbortSignal): AsyncGenerator<SentEvent> {
    const drop = () => {
      this.#waiting = [];
      this.close();
    };
    stop.addEventListener("abort", drop, { once: true });
    return this.#takeAll();
  }

  async *#takeAll(): AsyncGenerator<SentEvent> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
