import { randomUUID } from "node:crypto";
import { createWorkflow } from "@tanstack/workflow-core";
import { defineWorkflowRuntime } from "@tanstack/workflow-runtime";
import { createDrizzlePostgresWorkflowStore } from "@tanstack/workflow-store-drizzle-postgres";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { z } from "zod";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

const input = z.object({ steps: z.number() });
const nothing = async () => true;

/** Steps at once are left out: with this store all but the first fail with a `LogConflictError`. */
export const open: OpenPeer = async ({ postgresUrl }) => {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
  const store = createDrizzlePostgresWorkflowStore({ db: drizzle(pool) });
  await store.ensureSchema();
  const sequence = createWorkflow({ id: "sequence", input }).handler(async (ctx) => {
    for (let n = 0; n < ctx.input.steps; n += 1) await ctx.step(`s${n}`, nothing);
  });
  const runtime = defineWorkflowRuntime({
    store,
    workflows: { sequence: { load: async () => sequence } },
  });
  const finish = async (workflowId: string, steps: number) => {
    const { kind, run } = await runtime.startRun({ workflowId, runId: randomUUID(), input: { steps } });
    if (kind !== "completed") throw new Error(`The run is ${kind}.`, { cause: run?.error });
  };
  return {
    sequence: (steps) => finish("sequence", steps),
    settings: () => showPostgres(postgresUrl),
    close: () => pool.end(),
  };
};
