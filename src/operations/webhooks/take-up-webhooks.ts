import type { PolicyDecision } from "../../core/graph/policy.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ToldApproval } from "../../hosts/session/approvals/approval-webhooks.ts";
import type { ToldWarning } from "../../hosts/session/budgets/limit-warnings.ts";
import type { ToldAlert } from "../../hosts/session/policies/output-policies.ts";
import type { OutboxRecord, RunRecord } from "../../ports/journal.ts";
import type { Application, Records } from "../application/application.ts";
import { type LimitDescription, showLimit } from "../costs/use-limits.ts";
import { readRunHistory } from "../runs/describe/describe-run-reading.ts";
import type { WantedDelivery } from "./add-delivery.ts";
import { describeApprovalRequest } from "./describe-approval-request.ts";
import { describeEnd } from "./describe-end.ts";
import { takeUpEntries } from "./take-up-entries.ts";

/** Makes deliveries of the webhooks that were committed with ends of runs, questions to people and warnings. */
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
    body: JSON.stringify(description),
    createdAt: entry.createdAt,
    tenantId: record.tenantId,
  };
}

async function describe(sources: Records, record: RunRecord, told: JsonObject): Promise<unknown> {
  switch (told["event"]) {
    case "approval.requested":
      return describeApprovalRequest(sources.journal, record, told as unknown as ToldApproval);
    case "budget.warning":
      return describeWarning(record, told as unknown as ToldWarning);
    case "policy.alert":
      return describeAlert(record, told as unknown as ToldAlert);
    default:
      return describeEnd(await readRunHistory(sources, record), String(told["event"]));
  }
}

/** The options that the run was started with. */
async function readOptions(app: Pick<Application, "records">, { no }: RunRecord): Promise<JsonObject> {
  const [first] = await (await app.records()).journal.readEvents(no, { afterSeq: 0, limit: 1 });
  return first?.event.type === "runStarted" ? (first.event.options ?? {}) : {};
}

/** The webhook about a policy alert. It counts findings and never shows them. */
interface PolicyAlert {
  readonly event: "policy.alert";
  readonly run_id: string;
  readonly workflow: string;
  readonly path: string;
  readonly policy: string;
  readonly found: NonNullable<PolicyDecision["found"]>;
  readonly why: string;
  readonly timestamp: string;
}

/** Deterministic, so that a repeated delivery has the same text. */
function describeAlert({ id, workflow }: RunRecord, { path, at, decision }: ToldAlert): PolicyAlert {
  const { policy, found = {}, why } = decision;
  return { event: "policy.alert", run_id: id, workflow, path, policy, found, why, timestamp: toIsoTime(at) };
}

/** The webhook about a limit of which 80 % are used. */
interface BudgetWarning {
  readonly event: "budget.warning";
  /** The run whose step has used it. */
  readonly run_id: string;
  readonly workflow: string;
  /** `run`: its own limits; else the id of a budget that runs share. */
  readonly budget: string;
  readonly name: string;
  readonly limit: LimitDescription;
  readonly timestamp: string;
}

/** Deterministic, so that a repeated delivery has the same text. */
function describeWarning({ id, workflow }: RunRecord, told: ToldWarning): BudgetWarning {
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
