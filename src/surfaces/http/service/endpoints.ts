import type { z } from "zod";
import { isPawlError, PawlError } from "../../../core/errors/pawl-error.ts";
import { findRun } from "../../../operations/application/find-run.ts";
import { loadOperations } from "../../../operations/operations.ts";
import type { streamEvents, streamRun } from "../../../operations/runs/follow/follow-runs.ts";
import { streamRun as followRun } from "../../../operations/runs/follow/stream-run.ts";
import { endIdOf, type StreamedChange } from "../../../operations/runs/follow/streamed-change.ts";
import { describeHealth } from "../../../operations/service/check-health.ts";
import { admitToTerminals, findTerminal } from "../../../operations/terminals/find-terminals.ts";
import type { streamTerminal } from "../../../operations/terminals/terminals.ts";
import type { OutputFrame, OutputView } from "../../../ports/terminals/terminal-views.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpParts } from "../http-parts.ts";
import type { Endpoint } from "./endpoint.ts";
import { answerEventStream } from "./event-stream.ts";
import { type Asked, type ServedByHand, toEndpoints } from "./serve-operation.ts";

/** Answers that are no JSON envelope of an output. */
const BY_HAND: Readonly<Record<string, ServedByHand>> = {
  streamRun: { serve: serveRunStream },
  streamEvents: { serve: serveEventStream },
  streamTerminal: { serve: serveTerminalStream },
  getHealth: { serve: serveHealth },
  readMetrics: { serve: serveMetrics, isOpen: isMetricsOpen },
};

/** Every route of the service, in the order of its document. */
export async function loadEndpoints(): Promise<readonly Endpoint[]> {
  const operations = await loadOperations();
  return (
    operations
      .flatMap((operation) => toEndpoints(operation, BY_HAND[operation.id]))
      // The first path that fits answers: a brace sorts behind every letter, so `/runs/compare` stands before `/runs/{id}`.
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  );
}

/** 200 also where a part is in trouble, for the service answers. `status` is at the top as well, where monitors of the original look. */
async function serveHealth({ parts, c }: Asked): Promise<Response> {
  const data = await describeHealth(parts.app);
  return answerJson(c, { status: data.status, data, error: null });
}

/** Answers in Prometheus' format. A tenant's key is refused: the numbers are about all tenants. */
async function serveMetrics({ parts: { metrics }, c }: Asked): Promise<Response> {
  if (c.get("key")?.tenantId !== undefined)
    throw new PawlError("FORBIDDEN", { message: "The metrics cover all tenants." });
  if (metrics === undefined) throw new PawlError("PATH_NOT_FOUND", { message: "Nothing is counted: metrics.enabled." });
  return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
}

/** Without a key where that is configured, on loopback only. */
function isMetricsOpen({ app, isLoopback }: HttpParts): boolean {
  return isLoopback && app.config.settings.metrics.access === "open";
}

/** Tells what happens in a run until it has ended. `Last-Event-ID` goes on where a follower was. */
async function serveRunStream(
  { parts, c }: Asked,
  { id: given, after: sent, progress, events }: z.output<typeof streamRun.input>,
): Promise<Response> {
  // An unknown run is an answer of its own, not a stream that ends.
  const app = parts.appFor(c);
  const run = await findRun(app, given);
  const { id } = run;
  c.set("runId", id);
  const after = c.req.header("last-event-id") ?? sent;
  // Browsers ask again whenever a stream ends, until they are told that there is no more of it.
  if (run.completedAt !== undefined && after === endIdOf(run)) return new Response(null, { status: 204 });
  return answerEventStream(parts, (stop) => {
    const options = { followed: parts.followed, withProgress: progress, withEvents: events, after };
    return toSent(followRun(app, id, options, stop));
  });
}

async function* toSent(changes: AsyncGenerator<StreamedChange>) {
  for await (const change of changes) {
    const { event, data } = change;
    yield { event, data, ...("id" in change ? { id: change.id } : {}) };
  }
}

/** Tells what happens in all runs that the caller may see. `Last-Event-ID` goes on where a follower was. */
async function serveEventStream(
  { parts, c }: Asked,
  { after: sent }: z.output<typeof streamEvents.input>,
): Promise<Response> {
  const after = c.req.header("last-event-id") ?? sent;
  return answerEventStream(parts, (stop) => parts.feed.follow({ tenantId: parts.appFor(c).tenantId, after }, stop));
}

/** Tells what a terminal shows, then its output. A client that comes again is shown the screen anew. */
async function serveTerminalStream(
  { parts, c }: Asked,
  { id }: z.output<typeof streamTerminal.input>,
): Promise<Response> {
  const app = parts.appFor(c);
  admitToTerminals(app);
  // Browsers ask again whenever a stream ends.
  if (c.req.header("last-event-id") === TERMINAL_ENDED) return new Response(null, { status: 204 });
  const { terminals, session } = await findTerminal(app, id);
  const watch = terminals.watchOutput?.bind(terminals, session.session_id);
  if (watch === undefined)
    throw new PawlError("NOT_SUPPORTED", {
      message: "Another process holds this terminal.",
      remedy: "Ask for its screen: `GET /terminals/{id}/screen`.",
    });
  return answerEventStream(parts, (stop) => followTerminal(watch, stop));
}

/** Behind this event there is nothing. */
const TERMINAL_ENDED = "ended";

interface TerminalEvent {
  readonly event: OutputFrame["type"];
  readonly data: object;
  readonly id?: string;
}

/**
 * Tells what a terminal shows, then what its program puts out, until it has ended. It does not matter where a lost connection
 * was: the next one begins with the screen.
 */
async function* followTerminal(watch: () => OutputView, stop: AbortSignal): AsyncGenerator<TerminalEvent> {
  if (stop.aborted) return;
  const view = watch();
  const close = () => view.close();
  stop.addEventListener("abort", close, { once: true });
  try {
    for (;;) {
      const frame = await view.next();
      yield toEvent(frame);
      if (frame.type === "ended") return;
    }
  } catch (error) {
    const isGone = isPawlError(error) && error.code === "TERMINAL_NOT_FOUND";
    if (!isGone) throw error;
  } finally {
    stop.removeEventListener("abort", close);
    close();
  }
}

function toEvent(frame: OutputFrame): TerminalEvent {
  switch (frame.type) {
    case "screen": {
      const { columns, rows, data } = frame;
      return { event: "screen", data: { columns, rows, data } };
    }
    case "output":
      return { event: "output", data: { data: frame.data } };
    case "ended":
      return { event: "ended", data: { exit_code: frame.exitCode }, id: TERMINAL_ENDED };
  }
}
