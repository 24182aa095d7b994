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
