import { setTimeout as wait } from "node:timers/promises";
import { type Attack, attacks } from "./attacks.ts";
import type { Violation } from "./canaries.ts";
import { dataOf, WHO, type Who, type World } from "./world.ts";

export interface Result {
  /** How much was tried, in words. */
  readonly told: string;
  readonly violations: readonly Violation[];
}

const AT_ONCE = 8;
const TERMINAL_STATUSES = /^(completed|failed|cancelled|partial|budget_exceeded|rejected)/;

/** Sends every definition with every key, waits until nothing moves any more, and looks at the world. */
export async function attackWithDefinitions(world: World, { every = 1 } = {}): Promise<Result> {
  const corpus = attacks(world.canaries).filter((_, index) => index % every === 0);
  const runs: string[] = [];
  let taken = 0;
  const sent = corpus.flatMap((attack) => WHO.map((who) => ({ attack, who })));
  await inParallel(sent, async ({ attack, who }) => {
    const run = await submit(world, attack, who);
    if (run !== undefined) {
      taken += 1;
      runs.push(run);
    }
    if (who === "tenant-writer" || who === "tenant-admin") await save(world, attack, who);
  });
  await settle(world, runs);
  return {
    told: `${corpus.length} definitions x ${WHO.length} callers: ${sent.length} sent, ${taken} taken`,
    violations: [...world.canaries.check([...world.heard, { from: "the log", text: world.said }]), ...crashed(world)],
  };
}

async function submit(world: World, { text, input = {}, part }: Attack, who: Who): Promise<string | undefined> {
  const body = { workflow: text, input, ...(part === undefined ? {} : { part }) };
  return runIdOf(dataOf(await world.ask(who, "POST", "/workflows/run", body)));
}

async function save(world: World, { name, text, part }: Attack, who: Who): Promise<void> {
  const saved = `saved-${who}-${name.replace(/[^A-Za-z0-9-]/g, "-")}`.slice(0, 100);
  const { status } = await world.ask(who, "PUT", `/workflows/${saved}`, {
    text,
    ...(part === undefined ? {} : { part }),
  });
  if (status < 300) await world.ask(who, "POST", "/workflows/run", { workflow_name: saved, input: {} });
}

function runIdOf(data: Record<string, unknown> | undefined): string | undefined {
  const id = data?.["run_id"];
  return typeof id === "string" ? id : undefined;
}

/** Every run has ended or is ended; what they say is heard. */
async function settle(world: World, runs: readonly string[]): Promise<void> {
  const until = Date.now() + 60_000;
  const open = new Set(runs);
  while (open.size > 0 && world.isAlive) {
    for (const run of [...open]) {
      const { status } = (dataOf(await world.ask("admin", "GET", `/runs/${run}`)) ?? {}) as { status?: string };
      if (status === undefined || TERMINAL_STATUSES.test(status)) open.delete(run);
      else if (Date.now() > until || status !== "running") await world.ask("admin", "POST", `/runs/${run}/cancel`, {});
    }
    await wait(100);
  }
  await inParallel(runs, async (run) => {
    await world.ask("admin", "GET", `/runs/${run}/events?limit=1000`);
    await world.ask("admin", "GET", `/runs/${run}/logs`);
  });
}

/** What one tenant has, by every way that the service itself lists, with the keys of everybody else. */
export async function reachForForeign(world: World): Promise<Result> {
  const ids = await plant(world);
  const { text } = await world.send("/openapi.json", {});
  const document = JSON.parse(text) as { paths: Record<string, Record<string, { requestBody?: unknown }>> };
  const others = WHO.filter((who) => who.startsWith("tenant"));
  const before = await snapshot(world, ids);
  let asked = 0;
  const violations: Violation[] = [];
  for (const [pattern, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods).map((each) => each.toUpperCase())) {
      if (!/^(GET|POST|PUT|PATCH|DELETE)$/.test(method) || /stream|^\/events/.test(pattern)) continue;
      for (const path of fill(pattern, ids)) {
        await inParallel(others, async (who) => {
          asked += 1;
          const body = method === "GET" || method === "DELETE" ? undefined : bodyFor(pattern, ids);
          const answer = await world.ask(who, method, path, body);
          if (answer.status >= 500)
            violations.push({ kind: "error", detail: `${who} ${method} ${path}: ${answer.status}` });
        });
      }
    }
  }
  const session = { user_message: "What did I tell you?", session_id: ids["session"] };
  for (const who of others) await world.ask(who, "POST", "/agents/Clerk/execute", session);
  const after = await snapshot(world, ids);
  if (before !== after)
    violations.push({ kind: "foreign", detail: `something of another tenant has changed: ${before} is ${after}` });
  return {
    told: `${asked} requests for what another tenant has`,
    violations: [...violations, ...world.canaries.check(world.heard), ...crashed(world)],
  };
}

type Ids = Readonly<Record<string, string>>;

/** Alice's run, definition, schedule, file and conversation, each with her secret. */
async function plant(world: World): Promise<Ids> {
  const { foreignSecret } = world.canaries;
  const ask = (method: string, path: string, body?: unknown) => world.ask("victim", method, path, body);
  const definition = {
    name: "alices",
    steps: [
      { id: "a", prompt: foreignSecret },
      { id: "ok", type: "approval", depends_on: ["a"], approval_config: { message: foreignSecret } },
    ],
  };
  await ask("PUT", "/workflows/alices", { text: JSON.stringify(definition) });
  const run =
    runIdOf(dataOf(await ask("POST", "/workflows/run", { workflow_name: "alices", input: { note: foreignSecret } }))) ??
    "none";
  const schedule = dataOf(
    await ask("POST", "/schedules", { workflow: "alices", cron: "0 0 1 1 *", input: { note: foreignSecret } }),
  );
  const key = dataOf(await ask("POST", "/keys", { name: foreignSecret, scopes: ["read"] }));
  await ask("PUT", "/storage/secret.txt", foreignSecret);
  await ask("POST", "/budgets", { name: "alices", max_cost_usd: 5, period: "day" });
  const session = "s-1";
  await ask("POST", "/agents/Clerk/execute", { user_message: `Remember ${foreignSecret}`, session_id: session });
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = (dataOf(await ask("GET", `/runs/${run}`)) ?? {}) as { status?: string };
    if (status === "awaiting_approval") break;
    await wait(50);
  }
  return {
    run,
    session,
    approval: `${run}:ok`,
    schedule: String(schedule?.["schedule_id"] ?? schedule?.["id"] ?? "none"),
    key: String(key?.["key_id"] ?? "none"),
  };
}

async function snapshot(world: World, ids: Ids): Promise<string> {
  const paths = [`/runs/${ids["run"]}`, "/workflows/alices", "/schedules", "/keys", "/storage/secret.txt"];
  const answers = await Promise.all(paths.map((path) => world.ask("victim", "GET", path)));
  const status = dataOf(answers[0] ?? { status: 0, text: "" })?.["status"];
  return JSON.stringify([status, ...answers.slice(1).map(({ text }) => text.length)]);
}

function fill(pattern: string, ids: Ids): readonly string[] {
  const values = [
    ids["run"],
    ids["approval"],
    ids["schedule"],
    ids["key"],
    "alices",
    "secret.txt",
    (ids["run"] ?? "").slice(0, 8),
  ];
  if (!pattern.includes("{")) return [pattern, `${pattern}?run_id=${ids["run"]}&workflow=alices&tenant_id=alice`];
  return values.map((value) => pattern.replace(/\{[^}]*\}/g, encodeURIComponent(value ?? "none")));
}

function bodyFor(pattern: string, ids: Ids): object {
  if (pattern.includes("approv")) return { comment: "mine", edited_data: "x" };
  if (pattern.includes("signals")) return { name: "x", payload: {} };
  if (pattern.includes("fork")) return { from_step: "a", changes: { prompt: "tell me" } };
  if (pattern.includes("budgets")) return { name: "alices", max_cost_usd: 0.01, period: "day" };
  if (pattern.includes("execute"))
    return { requestData: { source: "internal" }, context: { workflowInfo: { workflowId: "alices" } } };
  if (pattern.includes("schedules")) return { workflow: "alices", cron: "* * * * *", enabled: false };
  if (pattern.includes("validate") || pattern.includes("plan")) return { workflow_name: "alices", workflow: "alices" };
  return { workflow_name: "alices", run_id: ids["run"] };
}

/** Does the work for each, some at once. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  width = AT_ONCE,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

export function crashed(world: World): readonly Violation[] {
  return world.isAlive ? [] : [{ kind: "crash", detail: world.said.slice(-2_000) }];
}
