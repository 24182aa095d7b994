import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startOAuthServer } from "../../fakes/oauth-server.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

type OAuthServer = Awaited<ReturnType<typeof startOAuthServer>>;

test("a step at a server that wants a login is refused before it begins, and goes on after `pawl mcp login`", async () => {
  const server = await startOAuthServer();
  const app = shop(server, 1);
  const refused = await pawl(["run", "shop.yaml"], { cwd: app });
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("MCP_LOGIN_NEEDED");
  expect(refused.stderr).toContain("`pawl mcp login shop`");
  expect((await pawl(["runs", "ls", "--json"], { cwd: app })).stdout).toContain('"items":[]');

  const told = await logIn(app);
  expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining("You are logged in to shop (tools).") });
  const done = await pawl(["run", "shop.yaml"], { cwd: app });
  expect(done).toMatchObject({ code: 0 });
  expect(server.seen.calls).toEqual(["order-0"]);
  expectNoToken(server, app, [refused, told, done]);

  expect((await pawl(["mcp", "logout", "shop"], { cwd: app })).stdout).toContain("is forgotten");
  expect((await pawl(["run", "shop.yaml"], { cwd: app })).code).toBe(4);
});

test("tokens that end in the middle of a run are renewed once for all calls, and none is kept or shown in clear", async () => {
  const server = await startOAuthServer({ uses: 10 });
  const app = shop(server, 30);
  const told = [await logIn(app)];
  told.push(await pawl(["run", "shop.yaml"], { cwd: app }));
  expect(told.at(-1)).toMatchObject({ code: 0 });
  expect([...server.seen.calls].sort()).toEqual(orders(30).sort());
  expect(server.seen).toMatchObject({ reused: 0 });
  expect(server.seen.renewed).toBeGreaterThan(1);
  const [, runId = ""] = /run (\S+) of /.exec(told.at(-1)?.stderr ?? "") ?? [];
  for (const args of [["runs", "show", runId], ["runs", "logs", runId], ["doctor"]])
    told.push(await pawl([...args, "--json"], { cwd: app }));
  expectNoToken(server, app, told);
});

test("a run whose process is killed twice loses no call, does none twice, and goes on with the login", async () => {
  let victim: ReturnType<typeof startPawl> | undefined;
  const killAt = new Set(["order-5", "order-14"]);
  const server = await startOAuthServer({
    uses: 3,
    async onCall(key) {
      if (!killAt.delete(key)) return;
      victim?.kill("SIGKILL");
      await victim?.ended;
    },
  });
  const app = shop(server, 20, { inSequence: true });
  const told = [await logIn(app)];
  victim = startPawl(["run", "shop.yaml"], { cwd: app });
  const runId = await victim.runId();
  told.push(await victim.ended);
  for (let tries = 0; tries < 2; tries += 1) {
    victim = startPawl(["runs", "resume", runId], { cwd: app });
    told.push(await victim.ended);
  }
  expect(told.at(-1)).toMatchObject({ code: 0 });
  expect(server.seen.calls).toEqual(orders(20));
  // What a death has cut off is sent again, under the key of the first time.
  expect(server.seen).toMatchObject({ repeated: 2, reused: 0 });
  expectNoToken(server, app, told);
});

test("a server that tells what it was sent is not believed, and a login that has ended is asked for anew", async () => {
  const server = await startOAuthServer();
  const app = shop(server, 1, { tool: "tell" });
  const told = [await logIn(app), await pawl(["run", "shop.yaml", "--json"], { cwd: app })];
  expect(told[1]?.stdout).toContain("in order-0");
  server.revoke();
  told.push(await pawl(["run", "shop.yaml"], { cwd: app }));
  expect(told[2]).toMatchObject({ code: 4, stderr: expect.stringContaining("wants a new login (invalid_grant)") });
  expectNoToken(server, app, told);
});

test("a login that nobody answers ends with Ctrl-C, and one that is of no use says why", async () => {
  const server = await startOAuthServer();
  const app = shop(server, 1);
  const login = startPawl(["mcp", "login", "shop"], { cwd: app });
  await login.said("&resource=");
  login.kill("SIGINT");
  expect(await login.ended).toMatchObject({ code: 4, stderr: expect.stringContaining("MCP_LOGIN_FAILED") });
  const unknown = await pawl(["mcp", "login", "shops"], { cwd: app });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("MCP_SERVER_UNKNOWN") });
});

/** Logs in as a person would: opens the address that is told. */
async function logIn(app: string) {
  const login = startPawl(["mcp", "login", "shop", "--no-browser"], { cwd: app });
  const address = await login.told(/http:\S+(?=\n)/);
  const forged = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
  forged.search = "?code=mine&state=guessed";
  expect((await fetch(forged)).status).toBe(404);
  expect(await (await fetch(address)).text()).toContain("You are logged in");
  return login.ended;
}

function orders(count: number): string[] {
  return Array.from({ length: count }, (_, no) => `order-${no}`);
}

/** An application whose workflow calls the server's tool for each order, all at once or one after the other. */
function shop(server: OAuthServer, count: number, { tool = "count", inSequence = false } = {}): string {
  const call = (key: string) => `type: mcp, target: {tool: shop.${tool}}, inputMapping: {key: "'${key}'"}`;
  const chain = orders(count).map((key, no) => {
    const next = no + 1 === count ? "end: true" : `transitions: {onSuccess: order-${no + 1}}`;
    return `  ${key}: {${call(key)}, ${next}}`;
  });
  const branches = orders(count).map((key) => `      ${key}: {${call(key)}}`);
  const all = ["  all:", "    type: control", "    subtype: parallel", "    branches:", ...branches, "    end: true"];
  const start = inSequence || count === 1 ? "order-0" : "all";
  const steps = start === "all" ? all : chain;
  return application({
    "shop.yaml": ["workflowId: shop", `startAt: ${start}`, "steps:", ...steps].join("\n"),
    ".mcp.json": JSON.stringify({ mcpServers: { shop: { url: server.url } } }),
  });
}

type Ended = Awaited<ReturnType<typeof pawl>>;

/** Neither in what was told nor in any file. */
function expectNoToken(server: OAuthServer, app: string, told: readonly Ended[]): void {
  const files = readdirSync(app, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1"));
  const all = [...texts, ...told.flatMap(({ stdout, stderr }) => [stdout, stderr])];
  const { secrets } = server.seen;
  expect(secrets.length).toBeGreaterThan(2);
  expect(files.map(({ name }) => name)).toContain("service.db");
  expect(secrets.filter((secret) => all.some((text) => text.includes(secret)))).toEqual([]);
}
