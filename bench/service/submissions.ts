import { type Comparison, compare } from "../support/compare.ts";
import { postAll, RawConnection } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";

const REQUESTS = 2_000;
const CONNECTIONS = 100;

/** It waits at once: what is measured is taking it. */
export const WAITING = "name: waiting\nsteps:\n  - {id: go, type: wait, event: go}\n";
/** One step that is answered at once, so that the runs themselves are done beside the requests. */
export const STEP = 'name: step\nsteps:\n  - {id: answer, prompt: "{input.n}"}\n';
export const FILES = {
  "workflows/waiting.yaml": WAITING,
  "workflows/step.yaml": STEP,
  "answers.yaml": 'steps:\n  answer: {reply: "42", delay_ms: 0, cost_usd: 0.01}\n',
  "pawl.yaml": 'agent: {provider: "simulated:answers.yaml"}\n',
};

/** `POST /workflows/run` beside a bare Hono route with one durable commit per request, group commit in both. */
export async function benchSubmissions(rounds: number): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const [name, workflow] of [
    ["runs that wait, by name", "waiting"],
    ["runs that wait, by text", WAITING],
    ["runs of one step, by name", "step"],
  ]) {
    const [floor, pawl] = await Promise.all([ServerProcess.floor(), ServerProcess.pawl(FILES)]);
    const open = (url: string) => Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(url)));
    const [toFloor, toPawl] = await Promise.all([open(floor.url), open(pawl.url)]);
    const body = (n: number) => JSON.stringify({ workflow, input: { n } });
    const submit = async (connections: readonly RawConnection[]) => {
      const posted = await postAll(connections, { path: "/workflows/run", count: REQUESTS, body, status: 202 });
      return posted.tookMs;
    };
    const comparison = await compare({
      name: `${REQUESTS} submissions, ${CONNECTIONS} at once: ${name}`,
      floorName: "bare Hono, one row per request",
      target: 2,
      rounds,
      floor: () => submit(toFloor),
      ours: () => submit(toPawl),
    });
    for (const connection of [...toFloor, ...toPawl]) connection.close();
    await Promise.all([floor.stop(), pawl.stop()]);
    const rate = (ms: number) => Math.round((REQUESTS * 1_000) / ms).toLocaleString("en");
    results.push({ ...comparison, note: `${rate(comparison.oursMs)} beside ${rate(comparison.floorMs)} a second` });
  }
  return results;
}
