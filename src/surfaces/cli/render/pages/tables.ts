import { writeExact } from "../../../../core/exact-json.ts";
import type { ShownAgent } from "../../../../operations/agents/show-agent.ts";
import type { CostGroup, Costs } from "../../../../operations/costs/sum-costs.ts";
import type { WorkflowSummary } from "../../../../operations/definitions/workflow-schemas.ts";
import type { Table } from "../../../../operations/operation.ts";
import type { WebhookWithAttempts } from "../../../../operations/webhooks/webhooks.ts";
import { formatDuration, formatTime, formatUsd } from "../text/formats.ts";
import type { PageOptions } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { renderTable } from "../text/table.ts";
import type { Segment } from "../text/text-width.ts";
import { renderList } from "./render-list.ts";

type Page = Pick<PageOptions, "paint" | "width">;

const LONGEST_VALUE = 100;

export function renderAgent({ name, description, origin, settings, servers }: ShownAgent, page: Page): string {
  const head = [`${line(name)}  (${line(origin)})`, ...(description === null ? [] : [line(description)])];
  const rows = settings.map(({ setting, value, origin: from }): Segment[] => [
    { text: setting },
    { text: cut(value === null ? "(not set)" : typeof value === "string" ? value : writeExact(value)) },
    { text: line(from) },
  ]);
  const table = renderTable([{ title: "SETTING" }, { title: "VALUE" }, { title: "FROM" }], rows, page);
  const serverRows = servers.map((server): Segment[] => [
    { text: line(server.name) },
    { text: cut(server.reached ?? "") },
    { text: line(server.origin ?? "") },
  ]);
  const reached =
    servers.length === 0
      ? "No MCP servers."
      : renderTable([{ title: "SERVER" }, { title: "REACHED BY" }, { title: "FROM" }], serverRows, page);
  return [...head, "", table, "", reached].join("\n");
}

function line(text: string): string {
  return sanitize(text).replace(/\s+/g, " ");
}

function cut(text: string): string {
  const short = line(text);
  return short.length <= LONGEST_VALUE ? short : `${short.slice(0, LONGEST_VALUE - 1)}…`;
}

/** The table of `pawl costs`, with the sum below it. */
export function renderCosts(costs: Costs, options: PageOptions): string {
  if (costs.items.length === 0) return `No runs were started since ${costs.since}.`;
  const table = {
    empty: "",
    right: ["RUNS", "COST", "UNPRICED", "TOKENS IN", "TOKENS OUT"],
    columns: ({ key, runs, cost_usd, cost_usd_at_most, unpriced_attempts: unpriced, ...tokens }: CostGroup) => ({
      [costs.by.toUpperCase()]: key ?? "-",
      RUNS: runs,
      COST: { usd: cost_usd ?? 0, unpriced: unpriced > 0, atMost: cost_usd_at_most },
      UNPRICED: unpriced === 0 ? "" : unpriced,
      "TOKENS IN": tokens.input_tokens,
      "TOKENS OUT": tokens.output_tokens,
    }),
  };
  const rows = renderList(table, [...costs.items, { key: "total", ...costs.total }], options);
  const since = `Runs started since ${costs.counted_from ?? costs.since}`;
  const cut = costs.counted_from === null ? "" : "; there are more before. Narrow it with --since and --until";
  const { usd = 0, runs = 0, waiting = 0 } = costs.reserved ?? {};
  const reserved = `Reserved now: ${formatUsd(usd)} by ${runs} ${runs === 1 ? "run" : "runs"}; ${waiting} wait.`;
  const lines = [`${since}${cut}.`, ...(runs + waiting === 0 ? [] : [reserved])];
  return `${rows}\n${options.paint("dim", lines.join("\n"))}`;
}

const NAMED: Table<WorkflowSummary> = {
  empty: "",
  columns: ({ name, file, version, dialect, description }) => ({
    NAME: name,
    FROM: file ?? `saved, version ${version}`,
    FORMAT: dialect ?? "not valid",
    DESCRIPTION: description,
  }),
};

const KEPT: Table<WorkflowSummary> = {
  empty: "No workflow is saved. Those that `run_workflow` has run with success are.",
  right: ["SUCCESSES"],
  columns: ({ name, success_count: successes = 0, created = "", description }) => ({
    NAME: name,
    SUCCESSES: successes,
    SAVED: { time: Number.isNaN(Date.parse(created)) ? null : created },
    DESCRIPTION: description,
  }),
};

/** The tables of `pawl workflows ls`: what can be run by its name, and the library of terminal workflows. */
export function renderWorkflows(
  { items }: { readonly items: readonly WorkflowSummary[] },
  options: PageOptions,
): string {
  const named = items.filter(({ source }) => source !== "terminal library");
  const kept = items.filter(({ source }) => source === "terminal library");
  const library = renderList(KEPT, kept, options);
  return named.length === 0 ? library : `${renderList(NAMED, named, options)}\n\n${library}`;
}

export function renderWebhook(webhook: WebhookWithAttempts, { now }: PageOptions): string {
  const at = (time: string) => formatTime(Date.parse(time), now);
  const lines = [
    `${webhook.webhook_id}  ${sanitize(webhook.event)}  ${webhook.status}`,
    `  to    ${sanitize(webhook.url)}`,
    `  of    ${sanitize(webhook.workflow_name)}${webhook.run_id === null ? "" : `, run ${webhook.run_id}`}`,
  ];
  for (const { at: time, status, error, excerpt, duration_seconds: seconds } of webhook.attempts) {
    lines.push(`  ${at(time)}  ${status ?? sanitize(error ?? "")}  ${formatDuration(seconds * 1_000)}`);
    if (excerpt !== null && excerpt !== "") lines.push(`      ${sanitize(excerpt.slice(0, 200))}`);
  }
  if (webhook.next_attempt_at !== null) lines.push(`  next  ${at(webhook.next_attempt_at)}`);
  if (webhook.error !== null)
    lines.push(`  ${sanitize(webhook.error.message)}`, `  pawl webhooks resend ${webhook.webhook_id}`);
  return lines.join("\n");
}
