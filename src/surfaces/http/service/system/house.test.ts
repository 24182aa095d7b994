import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/contracts/temporary-folder.ts";
import { codeOf, dataOf, keyFor } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { loadConfig } from "../../../../config/load-config.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { describeSettings } from "../../../../operations/service/describe-settings.ts";

/** As it stands in a file. */
const MAIL = `\${MAIL}`;
const ADMIN = { "x-api-key": "configured" };

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld([], { server: { api_key: "configured" }, ...options });
}

async function itemsAt(world: HttpWorld, path: string): Promise<readonly JsonObject[]> {
  const { items } = await dataOf(world.request(path, { headers: ADMIN }));
  return items as readonly JsonObject[];
}

test.each(["/settings", "/doctor"])("%s is for admins of no tenant", async (path) => {
  const world = newWorld();
  const writer = await keyFor(world, { scopes: ["write"] }, ADMIN);
  const tenant = await keyFor(world, { scopes: ["admin"], tenant_id: "acme" }, ADMIN);
  expect(await codeOf(world.request(path))).toBe("UNAUTHORIZED");
  expect(await codeOf(world.request(path, { headers: writer }))).toBe("FORBIDDEN");
  expect(await codeOf(world.request(path, { headers: tenant }))).toBe("FORBIDDEN");
  expect((await world.request(path, { headers: ADMIN })).status).toBe(200);
});

test("every setting is told with its origin and its sentence, and no secret is", async () => {
  const providers = { acme: { base_url: "http://me:pass-in-address@x.test", api_key: "planted" } };
  const world = newWorld({ server: { api_key: "configured", port: 4_711 }, models: { providers } as never });
  const items = await itemsAt(world, "/settings");
  const byName = new Map(items.map((item) => [item["setting"], item]));
  expect(byName.get("server.port")).toMatchObject({ value: 4_711, origin: "default", description: expect.any(String) });
  expect(byName.get("server.api_key")).toMatchObject({ value: "********" });
  expect(JSON.stringify(items)).not.toMatch(/planted|pass-in-address|"configured"/);
});

test("settings say which file, variable or flag they come from, and name variables that hold secrets", async () => {
  const environment = {
    PAWL_SERVER__PORT: "4711",
    PAWL_MCP__SERVERS: JSON.stringify({ mail: { command: "mail", env: { MAIL_TOKEN: MAIL, KEY: "planted" } } }),
  };
  const flags = { "server.host": { value: "::1", flag: "--host" } };
  const config = await loadConfig({ appDir: temporaryFolder(), flags, environment });
  const shown = new Map(describeSettings(config, (text) => text).map((each) => [each.setting, each]));
  expect(shown.get("server.port")?.origin).toBe("environment PAWL_SERVER__PORT");
  expect(shown.get("server.host")?.origin).toBe("--host");
  expect(shown.get("mcp.servers")?.value).toMatchObject({ mail: { env: { MAIL_TOKEN: MAIL, KEY: "********" } } });
});

test("the doctor tells what is known of MCP servers, and connects none unless that is asked for", async () => {
  const state = { server: "mail", origin: ".mcp.json", transport: "stdio", callsInFlight: 0, restarts: 0 } as const;
  const toolServers = [
    { ...state, state: "off" as const },
    { ...state, server: "files", state: "failed" as const, lastFailure: "it ended with exit code 7" },
  ];
  const world = newWorld({ toolServers });
  const found = await itemsAt(world, "/doctor");
  expect(found).toContainEqual({ name: "application", state: "ok", message: "/nowhere/app", remedy: null });
  expect(found).toContainEqual(expect.objectContaining({ name: "MCP server mail", state: "ok" }));
  expect(found).toContainEqual({
    name: "MCP server files",
    state: "failed",
    message: "it ended with exit code 7",
    remedy: "Run its command by hand to read all that it writes. Correct it in .mcp.json, or take it out.",
  });
  expect(found).toContainEqual(expect.objectContaining({ name: "sandbox", state: "ok" }));
});
