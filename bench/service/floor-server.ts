import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

/**
 * The floor of `POST /workflows/run`: a bare Hono route that reads JSON and writes it into one row of SQLite, durably, before
 * it answers. All requests of a turn of the event loop share a commit.
 */
const [folder = "."] = process.argv.slice(2);
const database = new DatabaseSync(join(folder, "floor.db"));
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
database.exec("CREATE TABLE requests(id INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL)");
const insert = database.prepare("INSERT INTO requests(run, body) VALUES (?, ?)");

interface Waiting {
  readonly run: string;
  readonly body: string;
  resolve(): void;
}
let waiting: Waiting[] = [];

function commit(): void {
  const group = waiting;
  waiting = [];
  database.exec("BEGIN IMMEDIATE");
  for (const { run, body } of group) insert.run(run, body);
  database.exec("COMMIT");
  for (const { resolve } of group) resolve();
}

const app = new Hono();
app.post("/workflows/run", async (c) => {
  const body = JSON.stringify(await c.req.json());
  const run = crypto.randomUUID();
  await new Promise<void>((resolve) => {
    if (waiting.length === 0) setImmediate(commit);
    waiting.push({ run, body, resolve });
  });
  return c.json({ data: { run_id: run, status: "queued" }, error: null }, 202);
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  console.log(`Pawl listens on http://127.0.0.1:${port}`);
});
