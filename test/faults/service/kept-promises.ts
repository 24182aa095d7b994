import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Event } from "../../../src/core/history/events.ts";
import type { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import type { AcceptedRun } from "./clients.ts";
import type { KilledServer } from "./killed-server.ts";
import { WORKFLOWS } from "./load-files.ts";

/** Every run that was accepted has completed, each key has one, and there are no others. */
export async function expectEnds(
  server: KilledServer,
  { accepted, about }: { readonly accepted: readonly AcceptedRun[]; readonly about: string },
): Promise<void> {
  for (const workflow of WORKFLOWS) {
    const runs = await listRuns(server, workflow);
    const mine = accepted.filter((run) => run.workflow === workflow);
    expect({ about, workflow, ids: runs.map((run) => run.run_id).sort() }).toEqual({
      about,
      workflow,
      ids: mine.map(({ runId }) => runId).sort(),
    });
    for (const { run_id: runId, status } of runs)
      expect({ about, runId, status }).toEqual({ about, runId, status: "completed" });
  }
}

interface ListedRun {
  readonly run_id: string;
  readonly status: string;
}

async function listRuns(server: KilledServer, workflow: string): Promise<readonly ListedRun[]> {
  const runs: ListedRun[] = [];
  for (let cursor = ""; ; ) {
    const page = (await server.get(`/runs?workflow=${workflow}&limit=200${cursor}`)) as {
      items: ListedRun[];
      next_cursor: string | null;
    };
    runs.push(...page.items);
    if (page.next_cursor === null) return runs;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** The row of each run once. */
export function expectRows(
  path: string,
  { accepted, about }: { readonly accepted: readonly AcceptedRun[]; readonly about: string },
): void {
  const rows = readFileSync(path, "utf8").trimEnd().split("\r\n").slice(1);
  const numbers = rows.map(Number).sort((a, b) => a - b);
  const mine = accepted.filter(({ workflow }) => workflow === "row").map(({ n }) => n);
  expect({ about, rows: numbers }).toEqual({ about, rows: mine.sort((a, b) => a - b) });
}

/** Every try of every run is counted, also those that a kill has cut off; one that had not begun is none. */
export async function expectBudget(
  server: KilledServer,
  { accepted, about }: { readonly accepted: readonly AcceptedRun[]; readonly about: string },
): Promise<void> {
  let tries = 0;
  for (const { runId, workflow } of accepted) {
    if (workflow !== "short") continue;
    const events = (await server.get(`/runs/${runId}/events?limit=1000`)) as { items: { event: Event }[] };
    tries += events.items.filter(({ event }) => endsTry(event)).length;
  }
  // What an ended run has used is in the records a moment after its end.
  await expect.poll(async () => ({ about, used: await readUsedSteps(server) })).toEqual({ about, used: tries });
}

async function readUsedSteps(server: KilledServer): Promise<number | undefined> {
  const { items } = (await server.get("/budgets")) as { items: { uses: { of: string; used: number }[] }[] };
  return items[0]?.uses.find(({ of }) => of === "steps")?.used;
}

function endsTry(event: Event): boolean {
  if (event.type === "stepInterrupted") return event.cause === "crash" && event.hasBegun !== false;
  return event.type === "stepSucceeded" || event.type === "stepFailed";
}

/** Each at least once, and always under the same id with the same bytes: the end of a run, and before it what a person was asked. */
export async function expectWebhooks(
  receiver: WebhookReceiver,
  { runIds, about }: { readonly runIds: readonly string[]; readonly about: string },
): Promise<void> {
  const byMessage = () =>
    Map.groupBy(receiver.received, ({ body }) => {
      const { run_id: runId, event } = JSON.parse(body) as { run_id: string; event: string };
      return event === "approval.requested" ? `${runId} asked` : runId;
    });
  const missing = () => {
    const told = byMessage();
    return runIds.filter((id) => !told.has(id));
  };
  await expect.poll(() => [about, missing()], { timeout: 120_000, interval: 250 }).toEqual([about, []]);
  for (const [message, received] of byMessage()) {
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size, `ids of ${message}`).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size, `bodies of ${message}`).toBe(1);
  }
  const told = [...byMessage().keys()].map((message) => message.replace(/ asked$/, ""));
  expect(new Set(told)).toEqual(new Set(runIds));
}
