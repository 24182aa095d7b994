import { type Comparison, compare } from "../support/compare.ts";
import { FILES, WAITING } from "./files.ts";
import { percentiles } from "./percentiles.ts";
import { postAll } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";

const REQUESTS = 2_000;
const CONNECTIONS = 100;
const SUBMISSIONS = { path: "/workflows/run", count: REQUESTS, atOnce: CONNECTIONS, status: 202 };

/** `POST /workflows/run` beside a bare Hono route with one durable commit per request, group commit in both. */
export async function benchSubmissions(rounds: number): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const [name, workflow] of [
    ["runs that wait, by name", "waiting"],
    ["runs that wait, by text", WAITING],
    ["runs of one step, by name", "step"],
  ]) {
    const [floor, pawl] = await Promise.all([ServerProcess.floor(), ServerProcess.pawl(FILES)]);
    const body = (n: number) => JSON.stringify({ workflow, input: { n } });
    const latenciesMs: number[] = [];
    const submit = async ({ url }: ServerProcess) => {
      const posted = await postAll(url, { ...SUBMISSIONS, body });
      if (url === pawl.url) latenciesMs.push(...posted.latenciesMs);
      return posted.tookMs;
    };
    const comparison = await compare({
      name: `${REQUESTS} submissions, ${CONNECTIONS} at once: ${name}`,
      floorName: "bare Hono, one row per request",
      target: 2,
      rounds,
      floor: () => submit(floor),
      ours: () => submit(pawl),
    });
    await Promise.all([floor.stop(), pawl.stop()]);
    const rate = (ms: number) => Math.round((REQUESTS * 1_000) / ms).toLocaleString("en");
    const rates = `${rate(comparison.oursMs)} beside ${rate(comparison.floorMs)} a second`;
    results.push({ ...comparison, note: `${rates}; ${percentiles(latenciesMs)}` });
  }
  return results;
}
