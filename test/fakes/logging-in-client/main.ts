/**
 * What the official runner starts as a client, in its scenarios of authorization: `node main.ts URL`. It lists the tools of
 * the server and calls each, as a step does; where a login is needed it logs in, as `pawl mcp login` does, and a person would.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServiceRecords } from "../../../src/app/open-service-records.ts";
import type { Json } from "../../../src/core/json.ts";
import { beginLogin } from "../../../src/executors/mcp-servers/login/begin-login.ts";
import { McpFailure } from "../../../src/executors/mcp-servers/mcp-failure.ts";
import { McpServers } from "../../../src/executors/mcp-servers/mcp-servers.ts";
import type { OAuthSettings, Protocol } from "../../../src/executors/mcp-servers/server-entry.ts";
import { ServerPool } from "../../../src/executors/mcp-servers/server-pool.ts";
import { createOutbound } from "../../../src/executors/outbound/outbound.ts";
import { FileSealer } from "../../../src/storage/files/file-sealer.ts";

const NEVER = new AbortController().signal;
const MAX_LOGINS = 3;
const REDIRECT = "http://localhost:3000/callback";
/** As a client whose metadata anybody can read. */
const CLIENT_METADATA = "https://conformance-test.local/client-metadata.json";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const version = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"];
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Readonly<Record<string, string>>;

const folder = mkdtempSync(join(tmpdir(), "pawl-client-"));
const service = openServiceRecords({ path: join(folder, "service.db"), durability: "process" });
const sealer = new FileSealer({ path: join(folder, "secrets.key") });
const vault = {
  logins: async () => service.logins,
  secrets: async () => ({
    seal: (text: string) => sealer.seal(text),
    open: (sealed: string) => sealer.open(sealed),
    learn: () => () => undefined,
  }),
};
const outbound = createOutbound({ allow: [] });
const pool = new ServerPool({
  version: "1.0.0",
  connectTimeoutMs: 10_000,
  pingIntervalMs: 30_000,
  outbound,
  vault,
  confine: () => Promise.reject(new Error("nothing is confined here")),
});
const protocol: Protocol = version === "2026-07-28" ? version : version === undefined ? "auto" : "legacy";
const servers = new McpServers({
  folder,
  env: () => undefined,
  entries: async () =>
    new Map([["server", { origin: "the runner", settings: { url, protocol, oauth: toSettings() } }]]),
  pool,
  timeoutMs: 10_000,
});

try {
  await withLogins(async () => {
    const { tools } = await servers.list("server", NEVER);
    for (const { name: tool } of tools)
      await servers.call({ server: "server", tool, arguments: {} satisfies Record<string, Json> }, NEVER);
  });
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
} finally {
  await pool.close();
  await service.close();
  rmSync(folder, { recursive: true });
}

async function withLogins(act: () => Promise<void>): Promise<void> {
  for (let logins = 0; ; logins += 1) {
    try {
      return await act();
    } catch (error) {
      const isNeeded = error instanceof McpFailure && error.failed.code === "MCP_LOGIN_NEEDED";
      if (!isNeeded || logins === MAX_LOGINS) throw error;
      await logIn();
    }
  }
}

async function logIn(): Promise<void> {
  const { address } = await servers.find("server");
  const login = await beginLogin(address, { redirectUrl: REDIRECT, outbound, vault });
  const { headers } = await fetch(login.address, { redirect: "manual" });
  const query = new URL(headers.get("location") ?? "", login.address).searchParams;
  if (!login.isAnswered(query)) throw new Error("The answer is not one to this login.");
  await login.finish(query);
}

function toSettings(): OAuthSettings | undefined {
  const { client_id, client_secret, issuer, private_key_pem: private_key, signing_algorithm: algorithm } = context;
  if (scenario === "auth/basic-cimd") return { client_id: CLIENT_METADATA };
  if (client_id === undefined) return undefined;
  const given = { client_id, client_secret, issuer, private_key, algorithm };
  return scenario.startsWith("auth/client-credentials") ? { ...given, grant: "client_credentials" } : given;
}
