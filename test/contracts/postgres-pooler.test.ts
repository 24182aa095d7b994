import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { programOf } from "../support/needs.ts";
import { openTestJournal } from "../support/open-test-journal.ts";
import { newTestDatabase } from "../support/test-database.ts";
import { createRun, readPaths, readWholeLog, reserveRuns, started } from "./journal-samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const NOBODY = 65_534;

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The address of a database by way of pgbouncer, which gives each transaction any of two sessions. */
async function openPooler(url: string): Promise<string> {
  const program = programOf("pgbouncer");
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const port = await findPort();
  const { pathname, searchParams } = new URL(url);
  const name = pathname.slice(1);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(join(folder, "users.txt"), '"pawl" ""\n');
  writeFileSync(
    file,
    `[databases]
${name} = host=${searchParams.get("host")} dbname=${name} user=pawl
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
`,
  );
  const isRoot = process.getuid?.() === 0;
  const pooler = spawn(program, [file], { stdio: "ignore", ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => pooler.once("exit", resolve));
    pooler.kill("SIGKILL");
    await ended;
  });
  const pooled = `postgresql://pawl@127.0.0.1:${port}/${name}`;
  await expect
    .poll(async () => {
      const client = new pg.Client({ connectionString: pooled });
      await client.connect();
      await client.end();
      return true;
    })
    .toBe(true);
  return pooled;
}

test("behind a pooler that gives each transaction another session everything works as without it", async () => {
  const url = await openPooler(await newTestDatabase());
  const journals = await Promise.all([openTestJournal(url), openTestJournal(url), openTestJournal(url)]);
  onTestFinished(async () => {
    for (const journal of journals) await journal.close();
  });
  const [first] = journals;
  await reserveRuns(first, 10);
  await Promise.all(
    journals.map(async (journal, n) => {
      const run = await createRun(journal, `w${n}`);
      for (let seq = 1; seq < 30; seq += 1) {
        const entry = { run, afterSeq: seq, events: [{ event: started(`s${seq}`) }] };
        // One of them is refused, and is done again in a transaction.
        const results = await journal.append(
          seq % 7 === 0 ? [{ ...entry, afterSeq: 99 }, entry] : [entry],
          `${n} ${seq}`,
        );
        expect(results.at(-1)).toEqual({ ok: true });
      }
      expect(await readPaths(journal, run)).toHaveLength(30);
    }),
  );
  await expect.poll(async () => (await readWholeLog(first, { limit: 50 })).length).toBe(90);
});
