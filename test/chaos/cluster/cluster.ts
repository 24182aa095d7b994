import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findTool } from "../../support/needs.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { type FaultyStore, startFaultyStore } from "../../support/s3-faults.ts";
import { S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { PawlProcess, type Role } from "./pawl-process.ts";
import { PostgresWay } from "./postgres-way.ts";

export interface ClusterOptions {
  readonly folder: string;
  /** The files of the application, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly leaseMs: number;
  readonly counts: Readonly<Record<Role, number>>;
}

interface ClusterParts {
  readonly postgres: PostgresServer;
  readonly store: FaultyStore;
  readonly s3: S3Server;
  readonly redis: RedisServer | undefined;
  readonly processes: readonly PawlProcess[];
}

const KEY = "0123456789abcdef0123456789abcdef";

/** The production topology on this machine: PostgreSQL, a bucket, and processes of each role. */
export class Cluster {
  readonly postgres: PostgresServer;
  readonly store: FaultyStore;
  readonly processes: readonly PawlProcess[];
  /** Undefined: `redis-server` is not installed. */
  readonly redis: RedisServer | undefined;
  readonly #s3: S3Server;

  private constructor(parts: ClusterParts) {
    this.postgres = parts.postgres;
    this.store = parts.store;
    this.#s3 = parts.s3;
    this.redis = parts.redis;
    this.processes = parts.processes;
    // Whoever ends the driver ends everything.
    process.once("exit", () => {
      this.redis?.signal("SIGKILL");
      void this.postgres.stop("SIGQUIT");
    });
  }

  static async start({ folder, files, env, leaseMs, counts }: ClusterOptions): Promise<Cluster> {
    const app = join(folder, "app");
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(app, path)), { recursive: true });
      writeFileSync(join(app, path), text);
    }
    const postgres = new PostgresServer();
    await postgres.start();
    const s3 = await startS3Server();
    const store = await startFaultyStore(s3.endpoint);
    const program = findTool("redis-server");
    const redis = program === undefined ? undefined : await RedisServer.open(program);
    const shared = {
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      PAWL_SECRETS__KEY: KEY,
      PAWL_DATABASE__LEASE_MS: String(leaseMs),
      STORAGE_BACKEND: "s3",
      STORAGE_BUCKET: await s3.makeBucket("pawl"),
      STORAGE_ENDPOINT: store.endpoint,
      AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
      ...env,
    };
    const processes: PawlProcess[] = [];
    for (const role of ["api", "scheduler", "worker"] as const) {
      for (let n = 1; n <= counts[role]; n += 1) {
        const way = await PostgresWay.open(postgres.socket);
        const url = `postgresql://pawl@127.0.0.1:${way.port}/postgres`;
        const env = { ...shared, DATABASE_URL: url };
        processes.push(new PawlProcess({ role, name: `${role}-${n}`, app, folder, env, way }));
      }
    }
    await Promise.all(processes.map((process) => process.start()));
    return new Cluster({ postgres, store, s3, redis, processes });
  }

  of(role: Role): readonly PawlProcess[] {
    return this.processes.filter((process) => process.role === role);
  }

  /** For who looks from outside, past all ways that are cut. */
  get databaseUrl(): string {
    return this.postgres.url("postgres");
  }

  /** `keepsData`: the files of the database stay where they are, for who looks into a violation. */
  async stop({ keepsData }: { readonly keepsData: boolean }): Promise<void> {
    await Promise.all(this.processes.map((process) => process.end("SIGKILL")));
    for (const { way } of this.processes) way.close();
    await this.redis?.kill();
    await this.store.stop();
    await this.#s3.stop();
    await (keepsData ? this.postgres.stop() : this.postgres.remove());
  }
}
