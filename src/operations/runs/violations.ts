import { z } from "zod";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ViolationRecord } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Principal, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type Frozen, givenTimeSchema, listOf, numberCursor, pageQuery, timeSchema } from "../schemas.ts";

const actionSchema = z.enum(["redact", "block", "approve", "alert"]);

const violationSchema = z
  .object({
    run_id: z.string(),
    workflow_name: z.string(),
    tenant_id: z.string().nullable(),
    path: z.string(),
    seq: z.number().int().describe("Number of the event in the run; with `run_id` it names the outcome for ever."),
    policy: z.string(),
    action: actionSchema,
    found: z.record(z.string(), z.number()).describe("How often, by kind. What was found is never told."),
    why: z.string(),
    at: timeSchema,
  })
  .meta({ id: "RecordedViolation", description: "What a policy had to say about a step's output." });

export type Violation = Frozen<z.output<typeof violationSchema>>;

export const listViolations = defineOperation({
  id: "listViolations",
  summary: "List what policies had to say, over all runs, newest first",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    ...pageQuery,
    cursor: numberCursor,
    run: z.string().min(1).max(100).optional().describe("A run's id, or the beginning of one."),
    workflow: z.string().min(1).optional().describe("Of this workflow."),
    policy: z.string().min(1).optional().describe("Of the policy with this id."),
    action: actionSchema.optional().describe("What the policy has done."),
    since: givenTimeSchema.optional().describe("Judged then or later."),
    until: givenTimeSchema.optional().describe("Judged before."),
  }),
  output: listOf(violationSchema),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS"],
  http: { method: "GET", path: "/violations" },
  cli: { verb: "violations", view: "violations" },
  mcp: {
    tool: "list_violations",
    isRare: true,
    title: "List violations of policies",
    description:
      "What policies had to say about outputs of steps, over all runs, newest first. What was found is counted.",
    names: { run: "run_id" },
    limit: { usual: 20, most: 100 },
  },
  async handle(
    { app }: OperationContext<Principal & Stores>,
    { run, since: from, until: before, limit, cursor, ...named },
  ) {
    const { journal } = await app.records();
    const found = await journal.listViolations({
      ...named,
      from,
      before,
      tenantId: app.tenantId,
      limit: limit + 1,
      run: run === undefined ? undefined : (await findRun(app, run)).no,
      beforeNo: cursor === undefined ? undefined : Number(cursor),
    });
    const items = found.slice(0, limit);
    return { items: items.map(describe), next_cursor: found.length > limit ? String(items.at(-1)?.no) : null };
  },
});

function describe({ run, path, seq, at, decision }: ViolationRecord): Violation {
  const { policy, action, found = {}, why } = decision;
  return {
    run_id: run.id,
    workflow_name: run.workflow,
    tenant_id: run.tenantId ?? null,
    path,
    seq,
    policy,
    action,
    found,
    why,
    at: toIsoTime(at),
  };
}
