import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { KilledServer } from "./killed-server.ts";

const LIMITED = `
name: limited
concurrency: { key: "{input.customer}" }
steps:
  - id: work
    prompt: Work for {input.customer}.
  - id: more
    depends_on: [work]
    prompt: Go on.
`;
const KEY = { PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
const RUNS = 100;
const CUSTOMERS = 10;
const KILLS = 3;

interface Told {
  readonly event: string;
  readonly run: string;
  /** The place in the stream. */
  readonly id: string;
}

/** What is told of all runs, in the order of the commits of all processes. */
async function readFeed(
  url: string,
  after: string,
  isEnough: (told: readonly Told[]) => boolean,
  whenOpen: () => Promise<unknown> = async () => undefined,
) {
  const told: Told[] = [];
  const response = await fetch(`${url}/events`, after === "" ? {} : { headers: { "last-event-id": after } });
  await whenOpen();
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const find = (pattern: RegExp) => pattern.exec(part)?.[1] ?? "";
      const [event, run, id] = [find(/^event: (.*)$/m), find(/"run_id":"([^"]*)"/), find(/^id: (.*)$/m)];
      if (run !== "") told.push({ event, run, id });
    }
    if (isEnough(told)) break;
  }
  return told;
}

test.each([
  ["SQLite", 1, async () => ({})],
  ["two processes on PostgreSQL", 2, async () => ({ DATABASE_URL: await newTestDatabase() })],
])(
  "whenever a server is killed, one run of each key goes on at a time, all of them end, and in their order: %s",
  async (_, processes, settings) => {
    const cwd = application({ "workflows/limited.yaml": LIMITED, "answers.yaml": "delay_ms: 20\n" });
    const env = {
      ...KEY,
      ...(await settings()),
      PAWL_AGENT__PROVIDER: "simulated:answers.yaml",
      PAWL_DATABASE__LEASE_MS: "2000",
    };
    const server = new KilledServer({ cwd, env });
    onTestFinished(() => void server.stop());
    const others: RunningServer[] = [];
    onTestFinished(() => {
      for (const other of others) other.kill("SIGKILL");
    });
    await server.start();
    for (let more = 1; more < processes; more += 1) others.push(await startServer([], { cwd, env }));

    const begin = async (n: number) => {
      const asked = { workflow: "limited", input: { customer: `c${n % CUSTOMERS}` } };
      const { response } = await server.post("/workflows/run", asked, { "idempotency-key": `run ${n}` });
      const { data } = (await response.json()) as { readonly data: { readonly run_id: string } };
      return { id: data.run_id, customer: n % CUSTOMERS };
    };
    const first = () => begin(RUNS);
    const [{ id: after } = { id: "" }] = await readFeed(await server.url, "", ({ length }) => length > 0, first);
    const begun = Array.from({ length: RUNS }, (_each, n) => begin(n));
    for (let kill = 0; kill < KILLS; kill += 1) {
      await setTimeout(100 + Math.random() * 200);
      await server.kill();
      await server.start();
    }
    const runs = await Promise.all(begun);
    const open = async () => (await server.get("/runs/counts")) as { readonly by_status: object };
    await expect.poll(open, { timeout: 60_000, interval: 200 }).toMatchObject({ by_status: { completed: RUNS + 1 } });

    const order = ((await server.get(`/runs?limit=${RUNS}`)) as { items: readonly { run_id: string }[] }).items
      .map(({ run_id: id }) => id)
      .toReversed();
    const ended = (all: readonly Told[]) => all.filter(({ event }) => event === "run.finished").length > RUNS;
    const told = await readFeed(await server.url, after, ended);
    for (const [, line] of Map.groupBy(runs, ({ customer }) => customer)) {
      const inOrder = line.map(({ id }) => id).toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
      const ofLine = told.filter(
        ({ run, event }) => inOrder.includes(run) && /^run\.(place_taken|finished)$/.test(event),
      );
      // Each has its place from the end of the one before it.
      const expected = inOrder.flatMap((id) => [`run.place_taken ${id}`, `run.finished ${id}`]);
      expect(ofLine.map(({ event, run }) => `${event} ${run}`)).toEqual(expected);
    }
  },
);
