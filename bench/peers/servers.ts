import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../../test/support/free-port.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import type { Places } from "./peer.ts";

/** PostgreSQL, Redis and Restate, which each write every commit to the disk before they answer. */
export interface Servers {
  /** With a database and a folder for one engine. */
  placesFor(name: string): Promise<Places>;
  /** The processes that store what an engine with this name has done, and that run now, by the store that they are of. */
  storing(name: string, child: number): readonly (readonly number[])[];
  close(): Promise<void>;
}

export async function startServers(): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-peers-"));
  const postgres = new PostgresServer();
  const [postgresPort, redisPort, ingress, admin, node] = await Promise.all([1, 2, 3, 4, 5].map(findFreePort));
  await postgres.start({ listen_addresses: "127.0.0.1", port: String(postgresPort) });
  const url = (database: string) => `postgresql://pawl@127.0.0.1:${postgresPort}/${database}`;
  const redis = spawn(
    "redis-server",
    [
      "--port",
      String(redisPort),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      "--appendonly",
      "yes",
      "--appendfsync",
      "always",
    ],
    { stdio: "ignore" },
  );
  const restate = spawn(findRestate(), ["--base-dir", join(folder, "restate")], {
    stdio: "ignore",
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      DO_NOT_TRACK: "1",
      RUST_LOG: "error",
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    },
  });
  await Promise.all([
    answers(`http://127.0.0.1:${admin}/health`),
    answers(`http://127.0.0.1:${ingress}/restate/health`),
  ]);
  return {
    async placesFor(name) {
      const database = name.replaceAll("-", "_");
      const client = new pg.Client({ connectionString: url("postgres") });
      await client.connect();
      await client.query(`CREATE DATABASE ${database}`);
      await client.end();
      return {
        postgresUrl: url(database),
        redisPort: redisPort ?? 0,
        restate: { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` },
        folder: mkdtempSync(join(folder, `${name}-`)),
      };
    },
    storing(name, child) {
      if (name === "bullmq") return [[redis.pid ?? 0]];
      if (name === "restate") return [[restate.pid ?? 0]];
      if (name === "pawl-restate") return [[restate.pid ?? 0], [child]];
      return [name.endsWith("sqlite") ? [child] : [postgres.pid, ...childrenOf(postgres.pid)]];
    },
    async close() {
      await Promise.all([stop(redis), stop(restate)]);
      await postgres.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findRestate(): string {
  const require = createRequire(import.meta.url);
  const found = createRequire(require.resolve("@restatedev/restate-server/package.json")).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`,
  );
  return join(found, "..", "bin", "restate-server");
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await setTimeout(100);
  }
  throw new Error(`${url} does not answer.`);
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
