import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "./free-port.ts";

const NOBODY = 65_534;
const PATIENCE_MS = 10_000;

export interface Pooler {
  /** The database by way of the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts pgbouncer before a database. It gives each transaction any of two sessions. `program`: where it is. */
export async function startPooler(program: string, databaseUrl: string): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-pooler-"));
  chmodSync(folder, 0o777);
  const port = await findFreePort();
  const { pathname, searchParams } = new URL(databaseUrl);
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
  const url = `postgresql://pawl@127.0.0.1:${port}/${name}`;
  const stop = async () => {
    const ended = new Promise((resolve) => pooler.once("exit", resolve));
    pooler.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitFor(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function waitFor(url: string): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await setTimeout(50);
    }
  }
}
