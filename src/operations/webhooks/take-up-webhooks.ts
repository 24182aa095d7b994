import { parseExact, writeExact } from "../../core/exact-json.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ToldApproval } from "../../hosts/session/approvals/approval-webhooks.ts";
import type { ToldWarning } from "../../hosts/session/budgets/limit-warnings.ts";
import type { ToldHeld } from "../../hosts/session/finish-run.ts";
import type { ToldAlert } from "../../hosts/session/policies/output-policies.ts";
import type { OutboxRecord, RunRecord } from "../../ports/journal.ts";
import type { Records, Stores } from "../application/ports.ts";
import { showLimit } from "../limits/use-limits.ts";
import { readRunHistory } from "../runs/describe/describe-run-reading.ts";
import { readRunStarted } from "../runs/read-run-started.ts";
import type { WantedDelivery } from "./add-delivery.ts";
import { describeEnd } from "./describe-end.ts";
import { takeUpEntries } from "./take-up-entries.ts";

/** Makes deliveries of the webhooks that were committed with ends of runs, questions to people and warnings. */
export async function takeUpWebhooks(
  app: Pick<Stores, "records" | "service">,
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

async function readWanted(app: Pick<Stores, "records">, entry: OutboxRecord): Promise<WantedDelivery> {
  const sources = await app.records();
  const record = await sources.journal.readRun(entry.run);
  const told: Json = parseExact(entry.body);
  if (record === undefined || !isJsonObject(told)) throw new Error(`The webhook ${entry.id} belongs to no run.`);
  const event = String(told["event"]);
  const url = String(told["url"]);
  const { options = {} } = (await readRunStarted(sources.journal, record)) ?? {};
  const description = await describe(sources, record, told);
  const isCallback = options["callback_url"] === url;
  // The webhook of a shared budget is not the one of this run's client.
  const isForeign = event === "budget.warning" && told["budget"] !== "run";
  // An alert may be told elsewhere than the run's client had in mind for what it sends along.
  const isElsewhere = isForeign || (event === "policy.alert" && !isCallback);
  const headers = isElsewhere ? undefined : options["callback_headers"];
  return {
    channel: "webhook",
    names: [record.id, entry.id],
    event,
    runId: record.id,
    workflow: record.workflow,
    url,
    // Variables belong to whoever runs this. What a client sends, an address or a whole definition, reads none of them.
    readsEnv: !isCallback && !isForeign && typeof options["source"] === "string",
    ...(typeof headers === "string" ? { sealedHeaders: headers } : {}),
    body: writeExact(description),
    createdAt: entry.createdAt,
    tenantId: record.tenantId,
  };
}

async function describe(sources: Records, record: RunRecord, told: JsonObject): Promise<unknown> {
  switch (told["event"]) {
    case "approval.requested":
    case "approval.reminded":
    case "approval.escalated":
      return describeApprovalRequest(sources, record, told as unknown as ToldApproval);
    case "budget.warning":
      return describeWarning(record, told as unknown as ToldWarning);
    case "policy.alert":
      return describeAlert(record, told as unknown as ToldAlert);
    case "step.held":
      return describeHeld(record, told as unknown as ToldHeld);
    default:
      return describeEnd(await readRunHistory(sources, record), String(told["event"]));
  }
}

/** The webhook about a step that rests until a person resumes the run, the same text whenever it is asked for. */
function describeHeld({ id, workflow }: RunRecord, { path, code, message, at }: ToldHeld) {
  return {
    event: "step.held",
    run_id: id,
    workflow,
    path,
    error: { code, message, remedy: `Look at its work, then: pawl runs resume ${id}` },
    links: { run: `/runs/${id}`, resume: `/runs/${id}/resume` },
    timestamp: toIsoTime(at),
  };
}

/** The webhook about a policy alert, the same text whenever it is asked for. It counts findings and never shows them. */
function describeAlert({ id, workflow }: RunRecord, { path, at, decision }: ToldAlert) {
  const { policy, found = {}, why } = decision;
  return { event: "policy.alert", run_id: id, workflow, path, policy, found, why, timestamp: toIsoTime(at) };
}

/**
 * The webhook about a limit of which 80 % are used, the same text whenever it is asked for. `run_id`: the run whose step has
 * used it. `budget`: `run` for the run's own limits, else the id of a budget that runs share.
 */
function describeWarning({ id, workflow }: RunRecord, told: ToldWarning) {
  const { budget, name, of, limit, used, at } = told;
  return {
    event: "budget.warning",
    run_id: id,
    workflow,
    budget,
    name,
    limit: showLimit({ of, limit, used }),
    timestamp: toIsoTime(at),
  };
}

/**
 * The webhook about a question, the same text whenever it is asked for. It leaves out the data shown to the person, which may
 * be large and not for every receiver. An answer that names `asked` answers this question and no later one at the path.
 */
async function describeApprovalRequest({ journal }: Records, record: RunRecord, told: ToldApproval) {
  const { event, asked, timesOutAt, reminded, escalatedTo } = told;
  const [row] = await journal.readEvents(record.no, { afterSeq: asked - 1, limit: 1 });
  if (row?.event.type !== "approvalAsked") throw new Error(`Event ${asked} of the run ${record.id} asks nothing.`);
  const { path, message, at, attempt } = row.event;
  // Several questions of a task may follow one another at one path.
  const approvalId = `${record.id}:${path}${attempt === undefined ? "" : `@${asked}`}`;
  const self = `/approvals/${encodeURIComponent(approvalId)}`;
  return {
    event,
    run_id: record.id,
    workflow: record.workflow,
    status: "awaiting_approval",
    approval: {
      approval_id: approvalId,
      path,
      asked,
      message,
      times_out_at: timesOutAt === undefined ? null : toIsoTime(timesOutAt),
      ...(reminded === undefined ? {} : { reminded, escalated_to: escalatedTo }),
      links: {
        self,
        approve: `${self}/approve`,
        reject: `${self}/reject`,
        skip: `${self}/skip`,
        run: `/runs/${record.id}`,
      },
    },
    timestamp: toIsoTime(told.at ?? at),
  };
}
