import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openPool } from "../../../../test/fakes/mcp-server/open-pool.ts";
import { startOAuthServer } from "../../../../test/fakes/oauth-server.ts";
import { openServiceRecords } from "../../../app/open-service-records.ts";
import type { RunSecrets } from "../../../ports/run-secrets.ts";
import { FileSealer } from "../../../storage/files/file-sealer.ts";
import { createOutbound } from "../../outbound/outbound.ts";
import { McpFailure } from "../mcp-failure.ts";
import { McpServers } from "../mcp-servers.ts";
import type { OAuthSettings } from "../server-entry.ts";
import { beginLogin } from "./begin-login.ts";
import type { LoginVault } from "./sealed-login.ts";

const NEVER = new AbortController().signal;
const REDIRECT = "http://127.0.0.1:1/callback";

test("two processes that renew a token at once use what renews it once, and both go on", async () => {
  const server = await startOAuthServer({ uses: 12 });
  const folder = temporaryFolder();
  const [one, other] = [openVault(folder), openVault(folder)];
  await logIn(server.url, one);
  const calls = [one, other].flatMap((vault, no) => {
    const servers = serversAt(server.url, { vault });
    return [1, 2, 3, 4, 5].map((key) => callOf(servers, `${no}-${key}`));
  });
  await Promise.all(calls);
  expect(new Set(server.seen.calls).size).toBe(10);
  expect(server.seen).toMatchObject({ reused: 0 });
});

test("a login is its tenant's, its server's and its address's own", async () => {
  const server = await startOAuthServer();
  const vault = openVault(temporaryFolder());
  await logIn(server.url, vault);
  await callOf(serversAt(server.url, { vault }), "own");
  for (const other of [{ tenantId: "acme" }, { name: "shop2" }, { url: `${server.url}?other` }])
    expect(await failureOf(serversAt(server.url, { vault, ...other }))).toBe("MCP_LOGIN_NEEDED");
  await logIn(server.url, vault, { tenantId: "acme" });
  await callOf(serversAt(server.url, { vault, tenantId: "acme" }), "theirs");
  expect(server.seen.calls).toEqual(["own", "theirs"]);
});

test("who is told to log in at a server of a definition is told its address and its tenant", async () => {
  const { url } = await startOAuthServer();
  const vault = openVault(temporaryFolder());
  const servers = serversAt(url, { vault, tenantId: "acme", origin: "the definition" });
  await expect(callOf(servers, "never")).rejects.toThrow(`\`pawl mcp login shop --tenant acme --for-url ${url}\``);
});

test("a row that was put in the place of another one is no login", async () => {
  const server = await startOAuthServer();
  const folder = temporaryFolder();
  const vault = openVault(folder);
  await logIn(server.url, vault);
  const other = await startOAuthServer();
  const database = new DatabaseSync(join(folder, "service.db"));
  onTestFinished(() => database.close());
  database.prepare("UPDATE server_logins SET address = ?").run(createHash("sha256").update(other.url).digest("hex"));
  expect(await failureOf(serversAt(other.url, { vault }))).toBe("MCP_LOGIN_NEEDED");
  expect(other.seen.refused).toBe(1);
});

test("an issuer in a network of its own, which only the server names, is not asked", async () => {
  const server = await startOAuthServer();
  const inner = await startOAuthServer();
  server.name({ authorization_servers: [inner.issuer.replace("127.0.0.1", "127.0.0.2")] });
  const vault = openVault(temporaryFolder());
  await expect(logIn(server.url, vault)).rejects.toThrow(/not a public address/);
  expect(inner.seen.asked).toEqual([]);
});

test("metadata for another server, or of another issuer, is refused before anything is registered", async () => {
  const server = await startOAuthServer();
  const vault = openVault(temporaryFolder());
  server.name({ resource: "https://elsewhere.example/mcp" });
  await expect(logIn(server.url, vault)).rejects.toThrow(/does not match/);
  server.name({ issuer: "https://elsewhere.example" });
  await expect(logIn(server.url, vault)).rejects.toThrow(/issuer/i);
  expect(server.seen.asked).not.toContain("/register");
});

test("an answer of another issuer is refused before its code is used, and one without a code says why", async () => {
  const server = await startOAuthServer();
  const vault = openVault(temporaryFolder());
  const begun = await begin(server.url, vault);
  const answer = await answerOf(begun.address);
  expect(begun.isAnswered(answer)).toBe(true);
  answer.set("iss", "https://elsewhere.example");
  await expect(begun.finish(answer)).rejects.toThrow(/issuer/i);
  expect(server.seen.asked).not.toContain("/token");
  const refused = new URLSearchParams({ error: "access_denied", error_description: "<script>", iss: server.issuer });
  await expect(begun.finish(refused)).rejects.toThrow(/has failed: access_denied\.$/);
  const twice = await begin(server.url, vault);
  const once = await answerOf(twice.address);
  await twice.finish(once);
  await expect(twice.finish(once)).rejects.toThrow(/invalid_grant/);
});

test("an issuer that does not answer for a moment ends no login: the call is one to try again", async () => {
  let isDown = true;
  const server = await startOAuthServer({ uses: 3, onRenew: () => (isDown ? Promise.reject(new Error()) : undefined) });
  const vault = openVault(temporaryFolder());
  await logIn(server.url, vault);
  const servers = serversAt(server.url, { vault });
  const results: string[] = [];
  for (let no = 0; no < 4; no += 1) results.push(await failureOf(servers, `call-${no}`));
  expect(results).toContain("MCP_UNREACHABLE");
  isDown = false;
  await expect.poll(() => failureOf(servers, "last")).toBe("none");
});

interface At {
  readonly vault: LoginVault;
  readonly tenantId?: string;
  readonly name?: string;
  readonly url?: string;
  readonly oauth?: OAuthSettings;
  readonly origin?: string;
}

function serversAt(
  url: string,
  { vault, tenantId, name = "shop", url: given = url, oauth, origin = ".mcp.json" }: At,
): McpServers {
  return new McpServers({
    folder: process.cwd(),
    env: () => undefined,
    entries: async () => new Map([[name, { origin, settings: { url: given, oauth } }]]),
    pool: openPool({ vault }),
    timeoutMs: 30_000,
    tenantId,
  });
}

function callOf(servers: McpServers, key: string) {
  return servers.names().then(([server = ""]) => servers.call({ server, tool: "count", arguments: { key } }, NEVER));
}

async function failureOf(servers: McpServers, key = "never"): Promise<string> {
  try {
    await callOf(servers, key);
    return "none";
  } catch (error) {
    if (error instanceof McpFailure) return error.failed.code;
    throw error;
  }
}

async function begin(url: string, vault: LoginVault, { tenantId }: Pick<At, "tenantId"> = {}) {
  const servers = serversAt(url, { vault, ...(tenantId === undefined ? {} : { tenantId }) });
  const { address } = await servers.find("shop");
  return beginLogin(address, { redirectUrl: REDIRECT, outbound: createOutbound({ allow: [] }), vault });
}

async function logIn(url: string, vault: LoginVault, of: Pick<At, "tenantId"> = {}): Promise<void> {
  const begun = await begin(url, vault, of);
  await begun.finish(await answerOf(begun.address));
}

/** As a browser would be sent back. */
async function answerOf(address: URL): Promise<URLSearchParams> {
  const { headers } = await fetch(address, { redirect: "manual" });
  return new URL(headers.get("location") ?? "").searchParams;
}

function openVault(folder: string): LoginVault {
  const service = openServiceRecords({ path: join(folder, "service.db"), durability: "process" });
  onTestFinished(() => service.close());
  const sealer = new FileSealer({ path: join(folder, "secrets.key") });
  const secrets: Pick<RunSecrets, "seal" | "open" | "learn"> = {
    seal: (text) => sealer.seal(text),
    open: (sealed) => sealer.open(sealed),
    learn: () => () => undefined,
  };
  return { logins: async () => service.logins, secrets: async () => secrets };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-logins-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
