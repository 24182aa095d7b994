import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import type { Random } from "../../simulation/random.ts";
import { findTool } from "../../support/needs.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { endMarked, spawnPawl } from "./spawn-pawl.ts";

/** What one start finds, before a fault is put into it. */
export interface Scene {
  readonly random: Random;
  readonly grounds: Grounds;
  /** The application. Its data folder is `.pawl`. */
  readonly app: string;
  readonly data: string;
  /** Undefined: runs are kept in the data folder. */
  readonly database: string | undefined;
  readonly env: Record<string, string>;
  readonly args: string[];
  /** What the program is started by: `sh`, `unshare`. */
  readonly by: string[];
  /** What ends with the start. */
  readonly undo: (() => unknown)[];
  /** What happens while it starts, some milliseconds after its process has begun. */
  readonly later: { readonly afterMs: number; act(): unknown }[];
}

const FILES = {
  "workflows/question.yaml": 'name: question\nsteps: [{id: answer, prompt: "{input.question}"}]\n',
  "never.yaml": "steps: {answer: {hang: true}}\n",
  "answers.yaml": 'steps: {answer: {reply: "42", delay_ms: 0}}\n',
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

export const SECRETS = { PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };

/** Real servers that all starts share, and data of an earlier process that was killed in the middle of a run. */
export class Grounds {
  readonly folder = mkdtempSync(join(tmpdir(), "pawl-starts-"));
  readonly postgres = new PostgresServer();
  readonly s3: S3Server;
  readonly redis: RedisServer | undefined;
  readonly admin: pg.Pool;
  #made = 0;

  static async open(): Promise<Grounds> {
    const program = findTool("redis-server");
    const [s3, redis] = await Promise.all([
      startS3Server(),
      program === undefined ? undefined : RedisServer.open(program),
    ]);
    const grounds = new Grounds(s3, redis);
    await grounds.#prepare();
    return grounds;
  }

  private constructor(s3: S3Server, redis: RedisServer | undefined) {
    this.s3 = s3;
    this.redis = redis;
    this.admin = new pg.Pool({ connectionString: this.postgres.url("postgres") });
  }

  async scene(random: Random): Promise<Scene> {
    this.#made += 1;
    const app = join(this.folder, `app${this.#made}`);
    const isOld = random.chance(0.7);
    cpSync(join(this.folder, isOld ? "old" : "new"), app, { recursive: true });
    const name = random.chance(0.5) ? `d${this.#made}` : undefined;
    const undo: Scene["undo"] = [() => rmSync(app, { recursive: true, force: true, maxRetries: 5 })];
    if (name !== undefined) {
      await this.admin.query(`CREATE DATABASE ${name} ${isOld ? "TEMPLATE old" : ""} STRATEGY FILE_COPY`);
      undo.push(() => this.admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    }
    const database = name && this.postgres.url(name);
    const env: Scene["env"] = database === undefined ? {} : { ...SECRETS, DATABASE_URL: database };
    const data = join(app, ".pawl");
    return { random, grounds: this, app, data, database, env, args: [], by: [], undo, later: [] };
  }

  /** The settings of a bucket behind this address. */
  async bucketAt(endpoint: string): Promise<Record<string, string>> {
    return {
      STORAGE_BACKEND: "s3",
      STORAGE_BUCKET: await this.s3.makeBucket(),
      STORAGE_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    };
  }

  async close(): Promise<void> {
    await this.admin.end();
    await Promise.all([this.redis?.kill(), this.s3.stop(), this.postgres.remove()]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #prepare(): Promise<void> {
    await this.postgres.start({ fsync: "off" });
    await this.admin.query("CREATE DATABASE old");
    for (const folder of ["new", "old"])
      for (const [name, text] of Object.entries(FILES)) {
        mkdirSync(dirname(join(this.folder, folder, name)), { recursive: true });
        writeFileSync(join(this.folder, folder, name), text);
      }
    const cwd = join(this.folder, "old");
    const inDatabase = { ...SECRETS, DATABASE_URL: this.postgres.url("old") };
    for (const env of [{}, inDatabase]) {
      const key = spawnPawl(["keys", "create", "first"], { cwd, env });
      await once(key.child, "exit");
      // One run of it has ended, and one was cut off.
      await once(spawnPawl(["run", "question", "-i", "question=1"], { cwd, env }).child, "exit");
      const cut = spawnPawl(["run", "question", "-i", "question=2", "--agent", "simulated:never.yaml"], { cwd, env });
      await cut.until((said) => said.includes("run "));
      endMarked(cut.mark);
    }
  }
}
