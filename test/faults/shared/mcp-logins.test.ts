import { expect, test } from "vitest";
import { createPawlClient } from "../../../src/client/pawl-client.ts";
import { application } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { startOAuthServer } from "../../fakes/oauth-server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

/** More by hand: `PAWL_LOGIN_ROUNDS=20`. */
const ROUNDS = Number(process.env["PAWL_LOGIN_ROUNDS"] ?? 2);
const CALLS = 12;

const SHOP = [
  "workflowId: shop",
  "startAt: all",
  "steps:",
  "  all:",
  "    type: control",
  "    subtype: parallel",
  "    branches:",
  ...Array.from(
    { length: CALLS },
    (_, no) => `      order${no}: {type: mcp, target: {tool: shop.count}, inputMapping: {key: trigger.payload.of}}`,
  ),
  "    end: true",
].join("\n");

test("two processes of one database renew one login at the same moment: once, and both go on", async () => {
  const server = await startOAuthServer({
    uses: CALLS,
    onRenew: () => new Promise((resolve) => setTimeout(resolve, 50)),
  });
  const cwd = application({
    "workflows/shop.yaml": SHOP,
    ".mcp.json": JSON.stringify({ mcpServers: { shop: { url: server.url } } }),
  });
  const env = { DATABASE_URL: await newTestDatabase(), PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
  const both = await Promise.all([startServer([], { cwd, env }), startServer([], { cwd, env })]);
  const clients = both.map(({ url }) => createPawlClient({ url }));
  const [first] = clients;
  if (first === undefined) throw new Error("There is no server.");
  const { address } = await first.call("POST /mcp-servers/{name}/login", { name: "shop", page: both[0].url });
  const { headers } = await fetch(address, { redirect: "manual" });
  const { state = "", code = "", iss = "" } = Object.fromEntries(new URL(headers.get("location") ?? "").searchParams);
  await first.call("POST /mcp-servers/login", { state, code, iss });
  for (let round = 0; round < ROUNDS; round += 1) {
    const runs = clients.map(({ call }, of) =>
      call("POST /workflows/run/sync", { workflow: "shop", input: { of: `${round}-${of}` } }),
    );
    for (const { status, error } of await Promise.all(runs))
      expect({ status, error }).toMatchObject({ status: "completed" });
  }
  expect(server.seen.calls).toHaveLength(ROUNDS * clients.length * CALLS);
  expect(server.seen).toMatchObject({ reused: 0, repeated: 0 });
  expect(server.seen.renewed).toBeGreaterThanOrEqual(ROUNDS);
});
