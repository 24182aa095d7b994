import pg from "pg";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { type ServedApplication, ServerProcess } from "../service/server-process.ts";

/** A PostgreSQL server with `fsync` on. */
export interface BenchServer {
  readonly server: PostgresServer;
  /** An empty database, or a copy of one that nobody uses. */
  openDatabase(name: string, files: ServedApplication["files"], template?: string): Promise<BenchDatabase>;
  close(): Promise<void>;
}

/** A database with an application whose processes share it. */
export interface BenchDatabase {
  readonly url: string;
  readonly client: pg.Client;
  /** A process of the program as it is installed, with arguments such as `worker --concurrency 10`. */
  start(...args: readonly string[]): Promise<ServerProcess>;
}

export async function openBenchServer(): Promise<BenchServer> {
  const server = new PostgresServer();
  await server.start();
  const clients: pg.Client[] = [];
  const connect = async (name: string) => {
    const client = new pg.Client({ connectionString: server.url(name) });
    await client.connect();
    clients.push(client);
    return client;
  };
  const admin = await connect("postgres");
  return {
    server,
    async openDatabase(name, files, template = "template0") {
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      const url = server.url(name);
      const env = { DATABASE_URL: url, PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
      return { url, client: await connect(name), start: (...args) => ServerProcess.installed(args, { files, env }) };
    },
    async close() {
      for (const client of clients) await client.end();
      await server.remove();
    },
  };
}

/** Starts a run by its workflow's name. Returns its id. */
export async function submit({ url }: ServerProcess, workflow: string, input: object = {}): Promise<string> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow, input }),
  });
  const answer = (await response.json()) as { readonly data: { readonly run_id: string } };
  return answer.data.run_id;
}
