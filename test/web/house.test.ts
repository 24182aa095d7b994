import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

/** A terminal that waits for what a person types. */
const TALK = JSON.stringify({
  name: "talk",
  initial_state: "open",
  states: {
    open: toState("open_terminal", { shell: "bash --norc" }, "greet"),
    greet: toState("send_input", { session_id: "{session_id}", input_text: "echo re''ady\n" }, "hold"),
    hold: toState("await_output", { session_id: "{session_id}", pattern: "it is \\d+", timeout: 600 }, "close"),
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } }, transitions: [] },
  },
});

function toState(tool: string, params: object, next: string) {
  return { action: { tool, params }, transitions: [{ condition: { success: true }, next_state: next }] };
}

const FAKE_SERVER = fileURLToPath(new URL("../fakes/mcp-server/main.ts", import.meta.url));

const TERMINALS = { "workflows/talk.json": TALK };

async function openTerminal(url: string): Promise<Page> {
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/terminals`);
  await page.getByText("No terminal is open.").waitFor();
  await call("POST /workflows/run", { workflow: "talk" });
  // It comes into the list by itself.
  await page.getByRole("list", { name: "Open terminals" }).getByRole("link", { name: "bash" }).click();
  await page.locator(".xterm-rows").getByText("ready", { exact: true }).waitFor();
  return page;
}

test("a terminal of a run is seen live and typed into, and its recording is played beside the states of the run", async () => {
  const { url } = await startServer([], {
    cwd: application({ ...TERMINALS, "pawl.yaml": "terminal: { web_input: true }\n" }),
  });
  const page = await openTerminal(url);
  await page.getByText("What you type goes to the program").waitFor();
  await page.keyboard.type("echo it is 4''2\n");
  await page.locator(".xterm-rows").getByText("it is 42", { exact: true }).waitFor();
  await takePicture(page, "terminal");
  await expect
    .poll(() => createPawlClient({ url }).call("GET /runs"))
    .toMatchObject({ items: [{ status: "completed" }] });
  await page.goto(`${url}/ui/terminals?tab=recordings`);
  await page.getByRole("list", { name: "Recordings" }).getByRole("link", { name: "session_" }).click();
  const states = page.getByRole("group", { name: "States of its run" });
  await page.getByRole("button", { name: "Play again" }).waitFor();
  await page.locator(".xterm-rows").getByText("it is 42", { exact: true }).waitFor();
  await takePicture(page, "recording");
  // Back to where the third state had just begun: what was typed then is not there yet.
  await states.getByRole("button", { name: "greet#1" }).click();
  await states.getByRole("button", { name: "hold#1 not yet" }).waitFor();
  await expect.poll(() => page.locator(".xterm-rows").textContent()).not.toContain("it is 42");
});

test("where only looking is allowed the page says which setting allows more, and a refused end is told", async () => {
  const { url } = await startServer([], { cwd: application(TERMINALS) });
  const page = await openTerminal(url);
  await page.getByText("Looking only.").getByText("terminal.web_input: true").waitFor();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await page.getByRole("alert").getByText("FORBIDDEN").waitFor();
});

test("a key that may only read is told why it sees no terminals", async () => {
  const { url } = await startServer([], { cwd: application(TERMINALS), env: { API_KEY: "a-long-secret-key" } });
  const { call } = createPawlClient({ url, apiKey: "a-long-secret-key" });
  const { key } = await call("POST /keys", { name: "reader", scopes: ["read"] });
  const page = await open(`${url}/ui/terminals`);
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByRole("alert").getByText("FORBIDDEN").waitFor();
  await page.getByRole("alert").getByText("admin").first().waitFor();
});

test("agents are shown with their settings, and MCP servers with their tools once they are checked", async () => {
  const servers = {
    fake: { command: process.execPath, args: [FAKE_SERVER] },
    gone: { command: "/nowhere/program", args: ["--token", "a-secret-token"] },
  };
  const { url } = await startServer([], {
    cwd: application({
      ".mcp.json": JSON.stringify({ mcpServers: servers }),
      ".claude/agents/helper.md":
        "---\nname: helper\ndescription: Helps.\nmodel: haiku\n---\nYou help <b>people</b>.\n",
    }),
  });
  const page = await open(`${url}/ui/agents`);
  await page.getByRole("list", { name: "Agents" }).getByText("helper").click();
  // A text of a definition is text.
  await page.getByRole("region", { name: "What it runs with" }).getByText("You help <b>people</b>.").waitFor();
  await takePicture(page, "agents");
  await page.getByRole("tab", { name: "MCP servers" }).click();
  const list = page.getByRole("list", { name: "MCP servers" });
  await list.getByRole("img", { name: "idle" }).nth(1).waitFor();
  await page.getByRole("button", { name: "Check them" }).click();
  await list.getByRole("img", { name: "connected" }).waitFor();
  await list.getByRole("img", { name: "failed" }).waitFor();
  await list.getByText("fake", { exact: true }).click();
  await page.getByRole("region", { name: /tools/ }).getByText("echo", { exact: true }).waitFor();
  await page.goto(`${url}/ui/agents?tab=servers&name=gone`);
  await page.getByRole("alert").getByText("Correct it in .mcp.json").waitFor();
  await takePicture(page, "mcp-servers");
  expect(await page.content()).not.toContain("a-secret-token");
});

test("settings are found by words of the address, with where they come from and without secrets", async () => {
  const { url } = await startServer([], {
    cwd: application({
      "pawl.yaml": "webhook: { timeout_ms: 4321 }\n",
      ".env": "WEBHOOK_SECRET=a-secret-of-webhooks\n",
    }),
  });
  const page = await open(`${url}/ui/settings?q=webhook&only=set`);
  const settings = page.getByRole("group", { name: "Settings" });
  const rowOf = (name: string) => settings.getByRole("listitem").filter({ hasText: name });
  await rowOf("webhook.timeout_ms").getByText("pawl.yaml").waitFor();
  await rowOf("webhook.timeout_ms").getByText("4321").waitFor();
  await rowOf("webhook.secret").getByText("********").waitFor();
  await rowOf("webhook.secret").getByText(".env").first().waitFor();
  expect(await settings.getByRole("listitem").count()).toBe(2);
  expect(await page.content()).not.toContain("a-secret-of-webhooks");
  await page.getByLabel("Only those that are set").uncheck();
  await rowOf("webhook.max_attempts").getByText("default").waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill("no such setting");
  await page.getByText("No setting fits.").waitFor();
  await page.goto(`${url}/ui/settings`);
  await rowOf("server.max_body_bytes").waitFor();
  await takePicture(page, "settings");
});

test("what fails stands first in the doctor's findings, with what to do, and is looked at again", async () => {
  const { url } = await startServer([], {
    cwd: application({
      ".mcp.json": JSON.stringify({ mcpServers: { gone: { command: "/nowhere/program" } } }),
      "pawl.yaml": "agent: { provider: simulated }\nagents: { config_path: missing.json }\n",
    }),
  });
  const page = await open(`${url}/ui/doctor`);
  const findings = page.getByRole("group", { name: "Findings" }).getByRole("listitem");
  await findings.first().getByText("failed").waitFor();
  expect(await findings.first().textContent()).toMatch(/agents file.*missing\.json/);
  await findings.filter({ hasText: "MCP server gone" }).getByText("it is connected when it is needed").waitFor();
  await page.getByRole("button", { name: "Connect the MCP servers too" }).click();
  await findings.filter({ hasText: "MCP server gone" }).getByText("Correct it in .mcp.json, or take it out.").waitFor();
  await takePicture(page, "doctor");
});
