import type { TestProject } from "vitest/node";
import { PostgresServer } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The server's `url`, with `DATABASE` where the name of a database is to stand. */
    readonly postgresUrl: string;
  }
}

const server = new PostgresServer();

/** One PostgreSQL server for all tests. Each makes databases of its own there. */
export async function setup(project: TestProject): Promise<void> {
  // Nothing that tests write there outlives the machine anyway.
  await server.start({ fsync: "off" });
  project.provide("postgresUrl", server.url("DATABASE"));
}

export async function teardown(): Promise<void> {
  await server.remove();
}
