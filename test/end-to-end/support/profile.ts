import { hash, randomUUID } from "node:crypto";
import { isAbsolute, join, resolve } from "node:path";
import { inject } from "vitest";
import { makeDatabaseNow } from "../../support/database-now.ts";
import { S3_KEYS } from "../../support/s3-server.ts";

/**
 * Where the end-to-end tests keep their data: in a data folder (`embedded`), in PostgreSQL (`postgres`), or in PostgreSQL and a bucket, with
 * Redis between the processes (`production`). With `restate` it is a data folder, and Restate drives what servers run. The tests are the same.
 */
export const PROFILE = process.env["PAWL_TEST_PROFILE"] ?? "embedded";

declare module "vitest" {
  export interface ProvidedContext {
    /** Only where the profile is `production`. */
    readonly production: { readonly redisUrl: string; readonly endpoint: string; readonly bucket: string } | undefined;
    /** Only where the profile is `restate`. */
    readonly restate: { readonly url: string; readonly adminUrl: string };
  }
}

const databases = new Map<string, string>();

/** The variables of a command: each data folder stands for a database of its own, and a place in the bucket; or for a service in Restate. */
export function profileEnvironment(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> | undefined },
): Record<string, string> {
  if (PROFILE === "embedded" || env["DATABASE_URL"] !== undefined) return {};
  const dataDir = dataDirOf(args, cwd, env);
  if (PROFILE === "restate") return restateEnvironment(dataDir);
  const url = databases.get(dataDir) ?? makeDatabaseNow(inject("postgresUrl"), `t${randomUUID().replaceAll("-", "")}`);
  databases.set(dataDir, url);
  const database = {
    DATABASE_URL: url,
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    // Where a test kills a process the others wait for so long.
    PAWL_DATABASE__LEASE_MS: "3000",
  };
  const production = inject("production");
  if (PROFILE !== "production" || production === undefined || env["STORAGE_BACKEND"] !== undefined) return database;
  return {
    ...database,
    REDIS_URL: production.redisUrl,
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: production.bucket,
    STORAGE_ENDPOINT: production.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    PAWL_STORAGE__PREFIX: hash("sha256", url).slice(0, 16),
  };
}

function restateEnvironment(dataDir: string): Record<string, string> {
  const { url, adminUrl } = inject("restate");
  return {
    RESTATE_URL: url,
    RESTATE_ADMIN_URL: adminUrl,
    RESTATE_ENDPOINT_PORT: "0",
    PAWL_RESTATE__REGISTER: "true",
    PAWL_RESTATE__SERVICE: `t${hash("sha256", dataDir).slice(0, 32)}`,
  };
}

function dataDirOf(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): string {
  const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const app = resolve(cwd, optionOf("--app") ?? ".");
  const named = optionOf("--data") ?? env["PAWL_DATA__DIR"] ?? ".pawl";
  return isAbsolute(named) ? named : join(app, named);
}
