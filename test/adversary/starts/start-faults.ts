import { closeSync, existsSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Random } from "../../simulation/random.ts";
import { refuseRows } from "../../support/refuse-rows.ts";
import { type Fault as StoreFault, startFaultyStore } from "../../support/s3-faults.ts";
import { openFaultyWay, type Target, type WayFault } from "./faulty-way.ts";
import { type Scene, SECRETS } from "./grounds.ts";
import { spawnPawl } from "./spawn-pawl.ts";

/** Puts a fault into a scene, and says what it has done. Undefined: this one is not possible here. */
export type StartFault = (scene: Scene) => Promise<string | undefined>;

const DATABASES = ["pawl.db", "service.db", "owner.db"] as const;

/** Faults of what a start stands on. Each draws what exactly it is. */
export const START_FAULTS: Readonly<Record<string, StartFault>> = {
  "port taken": async ({ args, undo }) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    undo.push(() => other.close());
    const taken = other.address();
    args.push("--port", String(typeof taken === "object" && taken !== null ? taken.port : 0));
    return "";
  },
  "newer file": async ({ random, data, database }) => {
    if (database !== undefined) return undefined;
    const name = random.pick(["pawl.db", "service.db"]);
    const isThere = changeDatabase(join(data, name), name === "pawl.db" ? "PRAGMA user_version = 99" : NEWER_KEYS);
    return isThere ? name : undefined;
  },
  "damaged file": async ({ random, data, database }) => {
    if (database !== undefined) return undefined;
    const name = random.pick([...DATABASES, "pawl.db-wal", "secrets.key", "storage-id", "lock.json"]);
    const path = join(data, name);
    if (!existsSync(path)) return undefined;
    return `${name} ${damage(path, random)}`;
  },
  "locked file": async (scene) => {
    const { random, data, database: shared, undo, later } = scene;
    if (shared !== undefined) return undefined;
    const name = random.pick(DATABASES);
    const path = join(data, name);
    if (!existsSync(path)) return undefined;
    const database = new DatabaseSync(path);
    const mode = random.pick(["IMMEDIATE", "EXCLUSIVE"]);
    database.exec(
      `PRAGMA busy_timeout = 1000; PRAGMA locking_mode = ${random.pick(["NORMAL", "EXCLUSIVE"])}; BEGIN ${mode}`,
    );
    const release = () => database.isOpen && database.close();
    undo.push(release);
    const afterMs = random.pick([1_000, 7_000, 20_000, 90_000]);
    later.push({ afterMs, act: release });
    return `${name} ${mode} for ${afterMs} ms`;
  },
  "frozen owner": async ({ app, env, database, undo }) => {
    if (database !== undefined) return undefined;
    const owner = spawnPawl(["serve", "--port", "0"], { cwd: app, env });
    await owner.until((said) => said.includes("listens on"));
    owner.child.kill("SIGSTOP");
    undo.push(() => owner.child.kill("SIGKILL"));
    return "";
  },
  "full disk": async ({ random, by, data }) => {
    const blocks = random.pick([0, 8, 64, 256, 700]);
    if (random.chance(0.5)) {
      by.push("sh", "-c", `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`, "sh");
      return `files of ${blocks} blocks`;
    }
    by.push(...mounted(`mount -t tmpfs -o size=${blocks + 4}k none ${data}`, data));
    return `a disk of ${blocks + 4} KiB`;
  },
  "read-only": async ({ by, data, database }) => {
    if (database !== undefined) return undefined;
    by.push(...mounted(`mount --bind ${data} ${data} && mount -o remount,ro,bind ${data}`, data));
    return "";
  },
  "a file in the way": async ({ random, data, database }) => {
    if (database !== undefined) return undefined;
    const name = random.pick(["blobs", "storage", "pawl.db", "service.db", "owner.db", "secrets.key"]);
    const path = join(data, name);
    rmSync(path, { recursive: true, force: true });
    if (!existsSync(data)) return undefined;
    writeFileSync(path, "this is something else");
    return name;
  },
  bucket: async (scene) => {
    const { random, grounds, env, undo } = scene;
    const store = await startFaultyStore(grounds.s3.direct);
    undo.push(() => store.stop());
    Object.assign(env, await grounds.bucketAt(store.endpoint));
    const at = random.pick([1, 1, 2, 5]);
    const fault = random.pick<StoreFault>([
      "no answer",
      "cut off",
      "slow",
      "dribble",
      "answer lost",
      { status: 500, code: "InternalError" },
      { status: 503, code: "SlowDown" },
      { status: 403, code: "AccessDenied" },
      { status: 404, code: "NoSuchBucket" },
    ]);
    let requests = 0;
    store.fault = () => {
      requests += 1;
      return requests >= at ? fault : undefined;
    };
    return `from request ${at} on: ${JSON.stringify(fault)}`;
  },
  "way to the bucket": async (scene) => {
    const { random, grounds, env } = scene;
    const { hostname: host, port } = new URL(grounds.s3.direct);
    const { port: behind, told } = await drawWay(scene, { host, port: Number(port) }, random);
    Object.assign(env, await grounds.bucketAt(`http://127.0.0.1:${behind}`));
    return told;
  },
  "way to the database": async (scene) => {
    const { database, grounds, random, env } = scene;
    if (database === undefined) return undefined;
    const { port, told } = await drawWay(scene, { path: grounds.postgres.socket }, random);
    env["DATABASE_URL"] = `postgresql://pawl@127.0.0.1:${port}${new URL(database).pathname}`;
    return told;
  },
  "refused rows": async (scene) => {
    const client = await connect(scene);
    if (client === undefined) return undefined;
    const { afterMs, told } = drawMoment(scene.random);
    const act = () => refuseRows(client, true).catch(() => undefined);
    if (afterMs === 0) await act();
    else scene.later.push({ afterMs, act });
    return told;
  },
  "a changed database": async (scene) => {
    const client = await connect(scene);
    if (client === undefined) return undefined;
    const { rows } = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    );
    const table = rows[scene.random.int(0, rows.length - 1)]?.name ?? "steps";
    const name = new URL(scene.database ?? "").pathname.slice(1);
    const change = scene.random.pick([
      `ALTER TABLE ${table} RENAME TO elsewhere`,
      `BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
      `BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`,
      `DELETE FROM ${table}`,
      `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      `ALTER DATABASE ${name} SET statement_timeout = 1`,
      `ALTER DATABASE ${name} SET lock_timeout = 1`,
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `BEGIN; SELECT pg_advisory_xact_lock(7298341001)`,
    ]);
    const isThere = await client.query(change).then(
      () => true,
      () => false,
    );
    return isThere ? change : undefined;
  },
  redis: async (scene) => {
    const { database, grounds, random, env } = scene;
    if (database === undefined || grounds.redis === undefined) return undefined;
    const { port, told } = await drawWay(
      scene,
      { host: "127.0.0.1", port: Number(new URL(grounds.redis.url).port) },
      random,
    );
    env["REDIS_URL"] = `redis://127.0.0.1:${port}/0`;
    return told;
  },
  restate: async (scene) => {
    const { random, env } = scene;
    const { port, told } = await drawWay(scene, { host: "127.0.0.1", port: 1 }, random);
    Object.assign(env, SECRETS, {
      RESTATE_URL: `http://127.0.0.1:${port}`,
      RESTATE_ADMIN_URL: `http://127.0.0.1:${port}`,
    });
    if (random.chance(0.5)) env["RESTATE_ENDPOINT_PORT"] = "0";
    if (random.chance(0.5)) env["PAWL_RESTATE__REGISTER"] = "true";
    return told;
  },
  "a silent neighbour": async (scene) => {
    const { random, env, app } = scene;
    const { port } = await drawWay(scene, { host: "127.0.0.1", port: 1 }, random, { do: "silent" });
    const kind = random.pick(["telemetry", "agents", "mcp"]);
    if (kind === "telemetry") env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
    if (kind === "agents") env["SANDSTORM_URL"] = `http://127.0.0.1:${port}`;
    if (kind === "mcp")
      writeFileSync(
        join(app, ".mcp.json"),
        JSON.stringify({ mcpServers: { mute: { command: "sleep", args: ["1000"] } } }),
      );
    return kind;
  },
};

const NEWER_KEYS = "ALTER TABLE api_keys ADD COLUMN of_tomorrow TEXT";

function changeDatabase(path: string, sql: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path);
  try {
    database.exec(sql);
    return true;
  } catch {
    // Another fault holds or has damaged it.
    return false;
  } finally {
    database.close();
  }
}

function damage(path: string, random: Random): string {
  const { size } = statSync(path);
  const way = random.pick(["emptied", "cut short", "overwritten", "its beginning overwritten"]);
  if (way === "emptied" || way === "cut short") {
    truncateSync(path, way === "emptied" ? 0 : random.int(1, Math.max(1, size - 1)));
    return way;
  }
  const file = openSync(path, "r+");
  const from = way === "overwritten" ? random.int(0, size) : 0;
  const bytes = Buffer.from(Array.from({ length: random.int(16, 20_000) }, () => random.int(0, 255)));
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
  return `${way} from ${from} on`;
}

/** A namespace of mounts of its own, which ends with the program. */
function mounted(mount: string, data: string): readonly string[] {
  return ["unshare", "-m", "sh", "-c", `mkdir -p ${data} && ${mount} && exec "$@"`, "sh"];
}

async function drawWay(scene: Scene, target: Target, random: Random, given?: WayFault) {
  const side = random.pick(["request", "answer"]);
  const fault =
    given ??
    random.pick<WayFault | "refused">([
      "refused",
      { do: "silent" },
      { do: "garbage" },
      { do: "slow", delayMs: random.pick([50, 400, 1_500]) },
      { do: "cut", at: random.int(1, 12), side, each: true },
      { do: "cut", at: random.int(1, 40), side, each: false },
      { do: "stall", at: random.int(1, 12), side, each: true },
      { do: "stall", at: random.int(1, 40), side, each: false },
    ]);
  const way = await openFaultyWay(target, fault === "refused" ? { do: "silent" } : fault);
  scene.undo.push(() => way.close());
  if (fault === "refused") way.close();
  return { port: way.port, told: JSON.stringify(fault) };
}

async function connect({ database, undo }: Scene): Promise<pg.Client | undefined> {
  if (database === undefined) return undefined;
  const client = new pg.Client({ connectionString: database });
  client.on("error", () => undefined);
  undo.push(() => client.end());
  await client.connect();
  return client;
}

function drawMoment(random: Random) {
  const afterMs = random.pick([0, 300, 600, 1_000, 1_500]);
  return { afterMs, told: `after ${afterMs} ms` };
}
