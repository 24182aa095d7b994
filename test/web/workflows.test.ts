import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

const SAVED = `# A remark that stays.
name: saved
steps:
  - id: answer   # the only one
    prompt: "What is {input.question}?"
`;

test("workflows are found by their words, and one shows its text and its graph", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/workflows`);
  const list = page.getByRole("list", { name: "Workflows" });
  await list.getByRole("link", { name: "review" }).waitFor();
  await takePicture(page, "workflows");
  await page.getByRole("searchbox", { name: "Search" }).fill("quest");
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  await page.getByRole("searchbox", { name: "Search" }).fill("");
  await list.getByRole("link", { name: "review" }).click();
  await stepNode(page, "draft").waitFor();
  await stepNode(page, "look").waitFor();
  expect(await textOf(page)).toContain("approval_config");
  await takePicture(page, "workflow");
});

test("a definition that is broken while it is typed has a mark, and says what to do", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  await save(url, SAVED);
  const page = await open(`${url}/ui/workflows/saved`);
  await page.getByText("valid", { exact: true }).waitFor();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("    depends_on: [nobody]\n");
  await page.getByText("1 problem").waitFor();
  await page.locator(".cm-lintRange-error").waitFor();
  const problem = page.getByRole("list", { name: "Problems" }).getByRole("button");
  await problem.getByText("nobody").first().waitFor();
  await takePicture(page, "workflow-problem");
  await page.locator(".cm-lintRange-error").hover();
  await page.locator(".cm-tooltip .cm-problem-remedy").waitFor();
  // Typing with brackets that close themselves is several changes.
  for (let times = 0; times < 8; times += 1) await page.keyboard.press("Control+z");
  await page.getByText("valid", { exact: true }).waitFor();
});

test("a workflow of three steps is built by clicks alone, saved and run", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/workflows`);
  await page.getByRole("button", { name: "New" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("built");
  await page.getByRole("button", { name: "Write it" }).click();
  await stepNode(page, "first").click();
  await page.getByRole("button", { name: "Add a step after first" }).click();
  await page.getByRole("button", { name: "Add a step after step-2" }).click();
  await stepNode(page, "step-3").waitFor();
  await page.getByLabel("Name of the step").fill("last");
  await page.getByLabel("Name of the step").press("Enter");
  await page.getByLabel("prompt *").fill("Say it in one line.");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await stepNode(page, "last").waitFor();
  await takePicture(page, "builder");
  const text = await textOf(page);
  expect(text).toMatch(/- id: last\s+depends_on: \[step-2, first\]\s+prompt: Say it in one line\./);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("sandcastle, version 1").waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("topic", { exact: true }).fill("Pawl");
  await dialog.getByText("costs nothing").waitFor();
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}/);
});

test("what the builder changes keeps remarks, and is undone like what was typed", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  await save(url, SAVED);
  const page = await open(`${url}/ui/workflows/saved`);
  await stepNode(page, "answer").click();
  await page.getByLabel("model", { exact: true }).fill("haiku");
  await expect.poll(() => textOf(page)).toContain("model: haiku");
  expect(await textOf(page)).toContain("# A remark that stays.");
  expect(await textOf(page)).toContain("# the only one");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+z");
  await expect.poll(() => textOf(page)).not.toContain("model");
});

test("versions are compared with the text in the editor, and unsaved text is there again after the view was left", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  await save(url, SAVED);
  await save(url, SAVED.replace("What is", "Why is"));
  const page = await open(`${url}/ui/workflows/saved?side=versions`);
  await page.getByLabel("From").selectOption("1");
  await page.getByRole("figure", { name: "Difference" }).getByText("Why is").waitFor();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# unsaved\n");
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.goBack();
  await page.getByText("Your unsaved text of before stands here.").waitFor();
  expect(await textOf(page)).toContain("# unsaved");
  await page.getByRole("button", { name: "Take the saved one" }).click();
  await expect.poll(() => textOf(page)).not.toContain("# unsaved");
});

test("a file of the application is not overwritten by what is saved: the refusal is shown", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/workflows/question`);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# more\n");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("NAME_TAKEN_TWICE").waitFor();
});

test("a called workflow opens in its place, and arrow keys go from step to step", async () => {
  const caller = `name: caller
steps:
  - id: begin
    prompt: Begin.
  - id: ask
    type: sub_workflow
    depends_on: [begin]
    sub_workflow: { workflow: question }
`;
  const { url } = await startServer([], { cwd: application({ ...FILES, "workflows/caller.yaml": caller }) });
  const page = await open(`${url}/ui/workflows/caller`);
  await page.getByRole("button", { name: "Steps of ask" }).click();
  await stepNode(page, "answer").waitFor();
  await page.getByRole("group", { name: "Graph of the steps" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.getByRole("button", { name: "Add a step after ask" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => stepNode(page, "answer").count()).toBe(0);
});

function stepNode(page: Page, id: string) {
  return page.locator(".react-flow__node").getByText(id, { exact: true });
}

/** CodeMirror draws what is in sight: these texts are short. */
async function textOf(page: Page): Promise<string> {
  const lines = await page.locator(".cm-line").allTextContents();
  return lines.join("\n");
}

async function save(url: string, text: string): Promise<void> {
  const response = await fetch(`${url}/workflows`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  expect(response.ok).toBe(true);
}
