import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { startOAuthServer } from "../fakes/oauth-server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const SHOP = `
workflowId: shop
startAt: order
steps:
  order: {type: mcp, target: {tool: shop.count}, inputMapping: {key: "'order'"}, end: true}
`;

test("whoever is refused for want of a login logs in by a button, comes back, and the run goes", async () => {
  const oauth = await startOAuthServer();
  const cwd = application({
    "workflows/shop.yaml": SHOP,
    ".mcp.json": JSON.stringify({ mcpServers: { shop: { url: oauth.url } } }),
  });
  const apiKey = "a-long-secret-key";
  const { url } = await startServer([], { cwd, env: { API_KEY: apiKey } });
  const { call } = createPawlClient({ url, apiKey });
  const page = await open(`${url}/ui/runs`);
  const addresses: string[] = [];
  page.on("framenavigated", (frame) => addresses.push(frame.url()));
  await page.getByLabel("Key", { exact: true }).fill(apiKey);
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByRole("button", { name: "Start a run" }).click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Workflow").selectOption("shop");
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await dialog.getByText("MCP_LOGIN_NEEDED").first().waitFor();
  await dialog.getByRole("link", { name: "Log in, at the MCP servers" }).click();
  await page.getByRole("list", { name: "MCP servers" }).getByText("shop", { exact: true }).click();
  await takePicture(page, "mcp-login");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("2 tools", { exact: true }).first().waitFor();
  expect(await page.getByRole("button", { name: "Log in" }).count()).toBe(0);
  // The page is at its own address again, and a second answer is none.
  expect(new URL(page.url()).search).toBe("?tab=servers&name=shop");
  const back = addresses.find((address) => new URL(address).searchParams.has("code")) ?? "";
  expect(new URL(back).origin).toBe(url);
  await page.goto(back);
  await page.getByRole("dialog", { name: "The login has failed" }).getByText("MCP_LOGIN_FAILED").waitFor();
  expect(await call("POST /workflows/run/sync", { workflow: "shop" })).toMatchObject({ status: "completed" });
  expect(oauth.seen.calls).toEqual(["order"]);
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1"));
  expect(oauth.seen.secrets.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);
});

test("a person who says no is told so, and may begin again", async () => {
  const oauth = await startOAuthServer();
  const cwd = application({ ".mcp.json": JSON.stringify({ mcpServers: { shop: { url: oauth.url } } }) });
  const { url } = await startServer([], { cwd });
  const { call } = createPawlClient({ url });
  const { address } = await call("POST /mcp-servers/{name}/login", { name: "shop", page: url });
  const state = new URL(address).searchParams.get("state") ?? "";
  const page = await open(
    `${url}/ui/agents?${new URLSearchParams({ error: "access_denied", state, iss: oauth.issuer })}`,
  );
  await page.getByRole("dialog", { name: "The login has failed" }).getByText("access_denied").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("list", { name: "MCP servers" }).getByText("shop", { exact: true }).waitFor();
});
