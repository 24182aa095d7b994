import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** The address of an empty database of the server that all tests share. */
export async function newTestDatabase(): Promise<string> {
  const name = `t${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client({ connectionString: inject("postgresUrl").replace("DATABASE", "postgres") });
  await admin.connect();
  // A copy of the files is quicker than a copy by the log.
  await admin.query(`CREATE DATABASE ${name} STRATEGY FILE_COPY`);
  await admin.end();
  return inject("postgresUrl").replace("DATABASE", name);
}
