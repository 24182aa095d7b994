import { z } from "zod";
import type { RunRecord } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Driving, Stores } from "../application/ports.ts";
import { hashOfAsked } from "../hash-of-asked.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { idempotencyKey, idField, jsonSchema } from "../schemas.ts";
import { cancelUnfinished, findUnfinished } from "./cancel-unfinished.ts";
import { compareWithSource } from "./compare-with-source.ts";
import { eachRun } from "./each-event.ts";
import { findAwaited } from "./find-awaited.ts";
import { acceptedRunSchema } from "./run-schemas.ts";

const id = idField("The run's id, or the beginning of it.", "runs ls");

const resumedSchema = acceptedRunSchema.extend({
  changes: z.array(z.string()).describe("What has changed of its files: it goes on with what it began with."),
});

export const cancelRun = defineOperation({
  id: "cancelRun",
  summary: "Cancel a run",
  scope: "run",
  effect: { does: "destroys", again: true },
  input: z.strictObject({ id, reason: z.string().max(2_000).optional().describe("Recorded with the end.") }),
  output: acceptedRunSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED"],
  http: { method: "POST", path: "/runs/{id}/cancel", status: 202 },
  cli: {
    verb: "runs cancel",
    args: ["id"],
    options: { reason: "--reason <text>" },
    follows: "here",
    wants: "cancelled",
    show: ({ run_id }) => ({ told: [`The run ${run_id} is being cancelled.`] }),
  },
  mcp: {
    tool: "cancel_run",
    title: "Cancel a run",
    description: "Ends a run before its end: nothing but its clean-up steps is started any more.",
    names: { id: "run_id" },
  },
  async handle({ app, by }: OperationContext<Stores & Driving>, { id, reason }) {
    const { id: runId, status } = await cancelUnfinished(app, id, { by, reason });
    return { run_id: runId, status };
  },
});

const RESUME = { byHand: ["runs resume"] };

export const resumeRun = defineOperation({
  id: "resumeRun",
  summary: "Go on with a run that was parked, or whose steps are held",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({ id }),
  output: resumedSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED"],
  http: { method: "POST", path: "/runs/{id}/resume", status: 202 },
  cli: RESUME,
  mcp: {
    tool: "resume_run",
    title: "Resume a run",
    description:
      "Goes on with a run that was parked, also with steps that are held. `changes` says what of its files has changed since it began.",
    names: { id: "run_id" },
  },
  handle: async ({ app }: OperationContext<Stores & Driving>, input) =>
    resume(app, await findUnfinished(app, input.id), { releases: true }),
});

export const resumeRuns = defineOperation({
  id: "resumeRuns",
  summary: "Go on with every run that can go on; held steps stay held",
  scope: "run",
  effect: { does: "writes", again: true, beyond: true },
  input: z.strictObject({}),
  output: z.object({ items: z.array(resumedSchema) }),
  http: { method: "POST", path: "/runs/resume", status: 202 },
  cli: RESUME,
  mcp: { no: "A model goes on with the run that it works on: `resume_run`." },
  async handle({ app }: OperationContext<Stores & Driving>) {
    const items: z.output<typeof resumedSchema>[] = [];
    for (const record of await listResumable(app)) {
      items.push(await resume(app, record, { releases: false }));
      await passTurn();
    }
    return { items };
  },
});

async function resume(app: Stores & Driving, record: RunRecord, options: { readonly releases: boolean }) {
  const changes = await compareWithSource(app, record);
  const { id, status } = await (await app.host()).request(record.id, { type: "resume", ...options });
  return { run_id: id, status, changes: [...changes] };
}

export const signalRun = defineOperation({
  id: "signalRun",
  summary: "Tell a run that an event has happened",
  scope: "run",
  effect: "writes",
  input: z.strictObject({
    id,
    name: z.string().min(1).max(1_000).describe("The event's: a step waits for it, or will wait for it."),
    payload: jsonSchema.optional().describe("What the waiting step gets as its output."),
    idempotency_key: idempotencyKey.describe(
      "The same key with the same signal is received once; over HTTP also as a header.",
    ),
  }),
  output: z.object({ run_id: z.string(), name: z.string() }),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED", "SIGNALS_FULL", "IDEMPOTENCY_MISMATCH"],
  http: { method: "POST", path: "/runs/{id}/signals", status: 202 },
  cli: {
    verb: "runs signal",
    args: ["id", "name"],
    options: { payload: "--payload <json>", idempotency_key: false },
    follows: "here",
    show: () => ({ told: ["Recorded."] }),
  },
  mcp: {
    tool: "send_signal",
    isRare: true,
    title: "Signal a run",
    description: "Tells a run that the event that it waits for, or will wait for, has happened.",
    names: { id: "run_id" },
  },
  async handle({ app }: OperationContext<Stores & Driving>, { id, name, payload = null, idempotency_key: sent }) {
    const record = await findUnfinished(app, id);
    const key = sent === undefined ? undefined : { key: sent, hash: hashOfAsked([name, payload]) };
    await (await app.host()).request(record.id, { type: "signal", name, payload, ...(key && { key }) });
    return { run_id: record.id, name };
  },
});

type Graphs = Parameters<typeof findAwaited>[2];

/** Unfinished runs that have something to do other than to wait for a person or an event. Oldest first. */
async function listResumable(app: Stores): Promise<readonly RunRecord[]> {
  const { journal } = await app.records();
  const graphs: Graphs = new Map();
  const found: RunRecord[] = [];
  const status = ["queued", "running", "waiting", "awaiting_approval"] as const;
  for await (const record of eachRun(journal, { status }))
    if (await isResumable(app, record, graphs)) found.push(record);
  return found.reverse();
}

async function isResumable(app: Stores, record: RunRecord, graphs: Graphs): Promise<boolean> {
  if (!record.parked) return true;
  if (record.status !== "waiting") return record.wakeAt !== undefined;
  const { isHeld, isOthers } = await findAwaited(app, record, graphs);
  return isHeld || !isOthers;
}
