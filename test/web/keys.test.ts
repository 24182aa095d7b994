import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { AT_ONCE, application, REVIEW } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a key is made, shown this once, opens what its scope says, and opens nothing when it is revoked", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/keys`);
  await page.getByText("There are no keys.").waitFor();
  const make = async (name: string, scope: string) => {
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Who it is for").fill(name);
    await page.getByLabel("Scope").selectOption(scope);
    await page.getByRole("button", { name: "Make it" }).click();
    const dialog = page.getByRole("dialog", { name: `The key of ${name}` });
    const key = await dialog.getByLabel("Key", { exact: true }).inputValue();
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    return key;
  };
  // From the first key on every request needs one: the tab goes on with it.
  await make("Operator", "admin");
  const key = await make("Reader", "read");
  const list = page.getByRole("list", { name: "Keys" });
  await list.getByText("Operator").waitFor();
  await list.getByText("Reader").click();
  await page.getByText("Texts that come with it may").waitFor();
  await takePicture(page, "keys");
  const { call } = createPawlClient({ url, apiKey: key });
  expect(await call("GET /runs")).toMatchObject({ items: [] });
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await list.getByText("revoked", { exact: true }).waitFor();
  await expect(call("GET /runs")).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect(await page.content()).not.toContain(key);
});

test("what the scope of a key does not allow is refused beside what was clicked, with the reason", async () => {
  const { url } = await startServer([], { cwd: application(FILES), env: { API_KEY: "a-long-secret-key" } });
  const { call } = createPawlClient({ url, apiKey: "a-long-secret-key" });
  const { key } = await call("POST /keys", { name: "reader", scopes: ["read"] });
  await call("POST /workflows/run", { workflow: "review" });
  const page = await open(`${url}/ui/approvals`);
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByRole("list", { name: "Open questions" }).getByText("Is it good?").click();
  await page.getByRole("button", { name: "Approve" }).click();
  const refusal = page.getByRole("alert");
  await refusal.getByText("FORBIDDEN").waitFor();
  expect(await refusal.innerText()).toContain("run");
  await takePicture(page, "refused");
  expect((await call("GET /approvals")).items).toHaveLength(1);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("alert").getByText("FORBIDDEN").waitFor();
});
