import { traceParentOf } from "../../hosts/trace-context.ts";
import type { Application } from "../application/application.ts";

/** W3C trace context for what is told of a run. Undefined: the run is gone, or nobody traces it. */
export async function readRunTrace(
  app: Pick<Application, "config" | "records">,
  runId: string,
): Promise<string | undefined> {
  const { journal } = await app.records();
  const record = await journal.findRun(runId);
  if (record === undefined || record === "ambiguous") return undefined;
  const [first] = await journal.readEvents(record.no, { afterSeq: 0, limit: 1 });
  const options = first?.event.type === "runStarted" ? (first.event.options ?? {}) : {};
  const tracing = app.config.settings.telemetry.otlp_endpoint !== undefined;
  return traceParentOf({ runId: record.id, options }, { tracing });
}
