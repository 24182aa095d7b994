import type { RestateCare, TroubledInvocation, TroubledSelection } from "../../ports/restate-care.ts";
import type { Stores } from "../application/ports.ts";

/** An invocation that was killed after its run had ended keeps nobody waiting. */
export async function listTroubledRuns(
  app: Pick<Stores, "records">,
  restate: RestateCare,
  selection?: TroubledSelection,
): Promise<readonly TroubledInvocation[]> {
  const troubled: TroubledInvocation[] = [];
  for (const invocation of await restate.listTroubled(selection)) {
    if (invocation.status === "killed" && !(await isUnfinished(app, invocation.runId))) continue;
    troubled.push(invocation);
  }
  return troubled;
}

async function isUnfinished(app: Pick<Stores, "records">, runId: string): Promise<boolean> {
  const { journal } = await app.records();
  const run = await journal.findRun(runId);
  return run !== undefined && run !== "ambiguous" && run.completedAt === undefined;
}
