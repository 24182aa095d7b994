import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { ToldApproval } from "../hosts/local/tell-approval.ts";
import type { OutboxRecord, RunRecord } from "../ports/journal.ts";
import type { WantedDelivery } from "./add-delivery.ts";
import type { Application } from "./application.ts";
import { describeApprovalRequest } from "./describe-approval-request.ts";
import { describeEnd } from "./describe-end.ts";
import { readRunHistory } from "./describe-run-reading.ts";
import { takeUpEntries } from "./take-up-entries.ts";

/** Makes deliveries of the webhooks that were committed with ends of runs, and with questions to people. */
export async function takeUpWebhooks(
  app: Pick<Application, "records" | "service">,
  unreadable: Set<number>,
  failed: (error: unknown) => void,
): Promise<void> {
  await takeUpEntries(app, {
    kind: "webhook",
    unreadable,
    failed,
    read: async (entry) => [await readWanted(app, entry)],
  });
}

async function readWanted(app: Pick<Application, "records">, entry: OutboxRecord): Promise<WantedDelivery> {
  const sources = await app.records();
  const record = await sources.journal.readRun(entry.run);
  const told: Json = JSON.parse(entry.body);
  if (record === undefined || !isJsonObject(told)) throw new Error(`The webhook ${entry.id} belongs to no run.`);
  const event = String(told["event"]);
  const url = String(told["url"]);
  const options = await readOptions(app, record);
  const description =
    event === "approval.requested"
      ? await describeApprovalRequest(sources.journal, record, told as unknown as ToldApproval)
      : await describeEnd(await readRunHistory(sources, record), event);
  const headers = options["callback_headers"];
  const isCallback = options["callback_url"] === url;
  return {
    channel: "webhook",
    names: [record.id, entry.id],
    event,
    runId: record.id,
    workflow: record.workflow,
    url,
    // Variables belong to whoever runs this. What a client sends, an address or a whole definition, reads none of them.
    readsEnv: !isCallback && typeof options["source"] === "string",
    ...(typeof headers === "string" ? { sealedHeaders: headers } : {}),
    body: JSON.stringify(description),
    createdAt: entry.createdAt,
    ...(record.tenantId === undefined ? {} : { tenantId: record.tenantId }),
  };
}

/** As the run was started with. */
async function readOptions(app: Pick<Application, "records">, { no }: RunRecord): Promise<JsonObject> {
  const [first] = await (await app.records()).journal.readEvents(no, { afterSeq: 0, limit: 1 });
  return first?.event.type === "runStarted" ? (first.event.options ?? {}) : {};
}
