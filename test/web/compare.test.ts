import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const WORKFLOW = `
name: letter
steps:
  - id: draft
    prompt: "Write to {input.name}."
  - id: sign
    prompt: "Sign it."
`;

const HOSTILE = "<script>document.title='taken'</script>";

const FILES = {
  "workflows/letter.yaml": WORKFLOW,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("two runs are compared: facts, input, and each step that differs with its prompt and output", async () => {
  const { url, a, b } = await runTwice();
  const page = await open(`${url}/ui/compare?a=${a}&b=${b}`);
  await page.getByText("Definition is the same.").waitFor();
  await page.getByRole("row", { name: /^cost/ }).getByText("+$0.020").waitFor();
  await page.getByRole("button", { name: "Input differs" }).click();
  await page.getByText('-   "name": "Ada"').waitFor();
  const steps = page.getByRole("list", { name: "Steps" });
  await expect.poll(() => steps.getByRole("listitem").count()).toBe(1);
  await steps.getByRole("button", { name: /draft/ }).click();
  await steps.getByText("- Write to Ada.").waitFor();
  await steps.getByText("+ Write to Bob.").waitFor();
  await steps.getByText("- Dear Ada.").waitFor();
  await steps.getByText(`+ Dear Bob. ${HOSTILE}`).waitFor();
  expect(await page.title()).toBe("Pawl");
  await takePicture(page, "compare");
  await page.getByRole("button", { name: "1 alike" }).click();
  await expect.poll(() => steps.getByRole("listitem").count()).toBe(2);
  await page.getByRole("button", { name: "Swap" }).click();
  await page.getByRole("row", { name: /^cost/ }).getByText("−$0.020").waitFor();
});

test("the other run is picked from those of the same workflow", async () => {
  const { url, a, b } = await runTwice();
  const page = await open(`${url}/ui/runs/${a}`);
  await page.getByRole("link", { name: "with another run" }).click();
  const list = page.getByRole("list", { name: "Runs to compare" });
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  await list.getByRole("button").click();
  await page.getByRole("row", { name: /^status/ }).waitFor();
  expect(new URL(page.url()).search).toBe(`?a=${a}&b=${b}`);
});

/** A letter to each of two people, of which the second costs more. */
async function runTwice(): Promise<{ readonly url: string; readonly a: string; readonly b: string }> {
  const folder = application({ ...FILES, "answers.yaml": answers("Dear Ada.", 0.01) });
  const { url } = await startServer([], { cwd: folder });
  const a = await run(url, "Ada");
  writeFileSync(join(folder, "answers.yaml"), answers(`Dear Bob. ${HOSTILE}`, 0.03));
  return { url, a, b: await run(url, "Bob") };
}

function answers(reply: string, usd: number): string {
  return `steps: { draft: { reply: "${reply}", delay_ms: 0, cost_usd: ${usd} }, sign: { reply: "P.", delay_ms: 0, cost_usd: 0 } }\n`;
}

async function run(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/workflows/run/sync`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "letter", input: { name } }),
  });
  const { data } = (await response.json()) as { data: { run_id: string } };
  expect(data).toMatchObject({ status: "completed" });
  return data.run_id;
}
