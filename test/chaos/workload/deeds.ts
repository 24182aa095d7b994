import { setTimeout } from "node:timers/promises";
import type { Random } from "../../simulation/random.ts";
import type { Answer, Client } from "./client.ts";
import { personalAnswer } from "./sandcastle-shapes.ts";
import type { AcceptedRun } from "./workload.ts";

const AGAIN_MS = 250;
const SEVERAL = [1, 2];

/** Two people answer at once; one of them is first. */
export async function answer(client: Client, { runId, label }: AcceptedRun): Promise<void> {
  const edited = { edited_data: { value: personalAnswer(label) } };
  const done = new Set(["APPROVAL_CONFLICT", "RUN_FINISHED"]);
  await Promise.all(
    SEVERAL.map(async () => {
      for (;;) {
        const { status, code } = await client.post(`/approvals/${runId}:gate/approve`, edited);
        if (status === 200 || done.has(code ?? "")) return;
        if (code !== "APPROVAL_NOT_OPEN") throw new Error(`The answer to ${runId} is refused: ${code}`);
        await setTimeout(AGAIN_MS);
      }
    }),
  );
}

export async function signal(client: Client, { runId, label }: AcceptedRun): Promise<void> {
  const { status, code } = await client.post(`/runs/${runId}/signals`, {
    name: "go",
    payload: { value: personalAnswer(label) },
  });
  // One whose answer was lost has come as well.
  if (status !== 202 && code !== "RUN_FINISHED") throw new Error(`The event for ${runId} is refused: ${code}`);
}

export async function cancel(client: Client, { runId }: AcceptedRun, random: Random): Promise<void> {
  await setTimeout(random.int(0, 4_000));
  await Promise.all(
    SEVERAL.map(async () => {
      const { status, code } = await client.post(`/runs/${runId}/cancel`, {});
      if (status >= 300 && code !== "RUN_FINISHED") throw new Error(`The cancel of ${runId} is refused: ${code}`);
    }),
  );
}

/** Two ask for the same, and get the same run. */
export async function repeat(client: Client, run: AcceptedRun, how: "rerun" | "fork"): Promise<AcceptedRun> {
  while (!(await hasEnded(client, run.runId))) await setTimeout(AGAIN_MS * 4);
  const label = how === "rerun" ? run.label : `${run.label}-forked`;
  const body = how === "rerun" ? { from_step: "two" } : { changes: { input: { label, seed: "seed" } } };
  const key = `${how}-${run.label}`;
  const answers = await Promise.all(SEVERAL.map(() => client.post(`/runs/${run.runId}/${how}`, body, key)));
  const [runId = "", ...others] = answers.map((one) => runIdIn(one, `The ${how} of ${run.runId}`));
  if (others.some((id) => id !== runId)) throw new Error(`The ${how} of ${run.runId} was done twice: ${others}`);
  return { ...run, runId, label, at: Date.now(), without: how === "rerun" ? ["one"] : [] };
}

export function runIdIn({ data, status, code }: Answer, what: string): string {
  const { run_id: id } = (data ?? {}) as { readonly run_id?: string };
  if (id === undefined) throw new Error(`${what} is refused: ${status} ${code}`);
  return id;
}

async function hasEnded(client: Client, runId: string): Promise<boolean> {
  const { data } = await client.get(`/runs/${runId}?outputs=false&prompts=false&steps=false`);
  return (data as { readonly completed_at?: string | null } | null)?.completed_at != null;
}
