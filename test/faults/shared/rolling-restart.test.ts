import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const CLIENTS = 6;
const PAUSE_MS = 40;
const BROKEN: ReadonlySet<string> = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

interface Asked {
  readonly brokenConnections: number;
  readonly failures: readonly string[];
  readonly runIds: readonly string[];
}

/**
 * Asks whichever of the servers listens. A request whose connection nobody takes, or which breaks before the answer, is sent again
 * under the same key: a process that ends closes connections that are idle, and a request may be on its way in one of them.
 */
async function askAllTheTime(urls: () => readonly string[], isOver: () => boolean): Promise<Asked> {
  const asked = { brokenConnections: 0, failures: [] as string[], runIds: [] as string[] };
  const work = async (n: number) => {
    let key = randomUUID();
    for (let at = n; !isOver(); at += 1) {
      const all = urls();
      const init = {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ workflow: "question", input: { question: `${n}` } }),
      };
      try {
        const response = await fetch(`${all[at % all.length]}/workflows/run`, init);
        const { data, error } = (await response.json()) as { data: { run_id: string }; error: { code: string } | null };
        if (error === null) asked.runIds.push(data.run_id);
        else asked.failures.push(`${response.status} ${error.code}`);
        key = randomUUID();
      } catch (error) {
        const { code } = (error as { cause?: { code?: string } }).cause ?? {};
        if (BROKEN.has(code ?? "")) asked.brokenConnections += 1;
        else asked.failures.push(`${code}`);
      }
      await setTimeout(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => work(n)));
  return asked;
}

test("all processes are restarted one after the other under load, and no request fails", async () => {
  const cwd = application({ "workflows/question.yaml": QUESTION, "answers.yaml": AT_ONCE });
  const env = {
    DATABASE_URL: await newTestDatabase(),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    PAWL_AGENT__PROVIDER: "simulated:answers.yaml",
    PAWL_SERVER__RATE_LIMIT_PER_MINUTE: "0",
    // A machine that runs other tests besides may need longer for an answer than the five seconds by default.
    PAWL_SERVER__STOP_GRACE_MS: "30000",
    LOG_LEVEL: "warn",
  };
  const start = (role: string) => startServer(["--role", role], { cwd, env });
  const apis = await Promise.all([start("api"), start("api")]);
  const workers = await Promise.all([start("worker"), start("worker")]);
  let isOver = false;
  const asking = askAllTheTime(
    () => apis.map(({ url }) => url),
    () => isOver,
  );
  for (const [group, role] of [
    [apis, "api"],
    [workers, "worker"],
    [apis, "api"],
  ] as const) {
    for (const place of group.keys()) {
      const old = group[place] as RunningServer;
      old.kill("SIGTERM");
      expect((await old.ended).code).toBe(0);
      group[place] = await start(role);
    }
  }
  isOver = true;
  const { failures, brokenConnections, runIds } = await asking;
  expect(failures).toEqual([]);
  expect(brokenConnections).toBeGreaterThan(0);
  expect(new Set(runIds).size).toBe(runIds.length);
  expect(runIds.length).toBeGreaterThan(50);
  const unfinished = async () => {
    const answers = ["queued", "running"].map((status) => fetch(`${apis[0]?.url}/runs?status=${status}`));
    const lists = await Promise.all((await Promise.all(answers)).map((answer) => answer.json()));
    return lists.flatMap((list) => (list as { data: { items: unknown[] } }).data.items).length;
  };
  await expect.poll(unfinished, { timeout: 60_000, interval: 500 }).toBe(0);
  // Six starts and stops of processes under load.
});
