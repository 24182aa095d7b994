import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openRecordsOn, openServiceRecords } from "../../../src/app/open-service-records.ts";
import type { ServiceRecords } from "../../../src/operations/application/ports.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { migrate } from "../../../src/storage/postgres/migrate.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** The steps by which versions before the tables were described have made them. */
function readSteps(file: string): readonly { readonly name: string; readonly sql: string }[] {
  const text = readFileSync(join(import.meta.dirname, "older", file), "utf8");
  return text
    .split(/^-- /m)
    .slice(1)
    .map((step) => ({ name: step.slice(0, step.indexOf("\n")), sql: step.slice(step.indexOf("\n")) }));
}

/** Writes each table once. */
async function use({ budgets, deadLetters, definitions, deliveries, idempotency, keys, schedules }: ServiceRecords) {
  const at = 1;
  await keys.add({ id: "k", name: "k", secretHash: "", scopes: ["read"], createdAt: at });
  await idempotency.claim({ key: "k", requestHash: "h", runId: "r", at });
  await definitions.save({ name: "w", text: "", at });
  await deadLetters.close({ run: "r", path: "p", status: "retried", at });
  const delivery = { id: "d", channel: "webhook", event: "e", workflow: "w", url: "u", readsEnv: false } as const;
  await deliveries.add({ ...delivery, sealedHeaders: "", body: "", lane: "", createdAt: at });
  const wanted = { now: at, limit: 1, perLane: 1, lanesUnderWay: [], by: "me", leaseMs: 1_000 };
  const [claimed] = await deliveries.claimDue(wanted);
  if (claimed === undefined) throw new Error("The delivery is not due.");
  const next = { status: "failed", endedAt: at, reason: "gone" } as const;
  await deliveries.record(claimed, { made: { at, durationMs: 1 }, next, gone: true });
  const settings = { cron: "@daily", timezone: "UTC", input: {}, enabled: true, jitterSeconds: 0 } as const;
  const rules = { overlap: "skip", catchUp: "one", source: "api", version: 1 } as const;
  await schedules.add({ id: "s", workflow: "w", ...settings, ...rules, createdAt: at, updatedAt: at });
  await schedules.addSlots("s", [{ slot: at, kind: "cron", outcome: { state: "claimed" }, at }]);
  const budget = { id: "b", per: "total", limits: { cost: 10 }, onExceeded: "stop" } as const;
  await budgets.put({ ...budget, createdAt: at, updatedAt: at });
  const share = { budget: "b", day: "", use: { cost: 1, tokens: 0, tries: 0, duration: 0, unpriced: false } };
  await budgets.begin("r", [share], "me");
  await budgets.raise("more", { budget: "b", day: "", by: { cost: 5 } });
  const inUse = { cost: 0, tokens: 0, tries: 0, duration: 0 };
  const lease = { budget: "b", day: "", holder: "me", inUse, wants: false, keepsHalf: false };
  return {
    key: await keys.find("k"),
    claim: await idempotency.find({ key: "k", at }),
    definition: await definitions.find({ name: "w" }),
    note: await deadLetters.find("r", "p"),
    delivery: await deliveries.find("d"),
    isClosed: await deliveries.isClosed(delivery),
    schedule: await schedules.find("s"),
    slots: await schedules.listSlots("s", { limit: 10 }),
    shares: await budgets.sharesOf("r"),
    lease: await budgets.lease(lease),
  };
}

const FILE_STEPS = readSteps("service-file.sql");

test("a file of each earlier version is brought up to date, and used as a new one", async () => {
  const folder = temporaryFolder();
  const paths = [...FILE_STEPS.keys(), FILE_STEPS.length].map((count) => {
    const path = join(folder, `${count}.db`);
    const file = new DatabaseSync(path);
    for (const { sql } of FILE_STEPS.slice(0, count)) file.exec(sql);
    file.close();
    return path;
  });
  const used = paths.map(async (path) => {
    const records = openServiceRecords({ path, durability: "process" });
    onTestFinished(() => records.close());
    return { used: await use(records), columns: columnsIn(path) };
  });
  const [fresh, ...older] = await Promise.all(used);
  for (const each of older) expect(each).toEqual(fresh);
});

function columnsIn(path: string): unknown {
  const file = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => file.close());
  // A primary key of one column may be NULL in SQLite where that is not forbidden.
  const columns = `SELECT tables.name, columns.name AS field, columns.type, pk, pk > 0 OR "notnull" AS needed, dflt_value
    FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' ORDER BY 1, 2`;
  return file.prepare(columns).all();
}

const SERVER_STEPS = readSteps("postgres.sql");

test("a database of each earlier version is brought up to date, and used as a new one", async () => {
  const used = [...SERVER_STEPS.keys(), SERVER_STEPS.length].map(async (count) => {
    const database = new PostgresDatabase({ address: readDatabaseUrl(await newTestDatabase()), connections: 1 });
    await migrate(database, SERVER_STEPS.slice(0, count));
    const records = await openRecordsOn(database);
    onTestFinished(() => records.close());
    const columns = `SELECT table_name, column_name, data_type, is_nullable, is_identity, column_default
      FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2`;
    const indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1";
    const names = await database.all("SELECT name FROM steps ORDER BY name");
    return { used: await use(records), schema: [await database.all(columns), await database.all(indexes), names] };
  });
  const [fresh, ...older] = await Promise.all(used);
  for (const each of older) expect(each).toEqual(fresh);
});
