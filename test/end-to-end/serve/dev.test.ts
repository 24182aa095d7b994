import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AT_ONCE, application, REVIEW } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const SETTINGS = 'agent: { provider: "simulated:answers.yaml" }\n';

test("pawl dev reads its settings again, shows what is broken, and keeps its runs", async () => {
  const folder = application({ "workflows/review.yaml": REVIEW, "answers.yaml": AT_ONCE, "pawl.yaml": SETTINGS });
  const dev = startPawl(["dev", "--port", "0"], { cwd: folder });
  const [, url = ""] = /listens on (\S+)\n/.exec(await dev.printed("openapi.json")) ?? [];
  const run = await pawl(["run", "review", "--url", url, "--json"], { cwd: folder });
  expect(run.code).toBe(6);
  const { run_id: id } = (JSON.parse(run.stdout) as { readonly data: { readonly run_id: string } }).data;

  writeFileSync(join(folder, "pawl.yaml"), "agent: [");
  await dev.said("CONFIG_INVALID");
  await dev.said("Fix it");
  expect((await pawl(["runs", "show", id, "--url", url], { cwd: folder })).code).toBe(0);

  writeFileSync(join(folder, "pawl.yaml"), `${SETTINGS}log: { level: warn }\n`);
  await dev.said("restarting");
  // The server that ends still answers, and then nobody does for a moment.
  const codeOf = async (...command: string[]) => (await pawl([...command, id, "--url", url], { cwd: folder })).code;
  await expect.poll(() => codeOf("approve"), { interval: 200 }).toBe(0);
  await expect.poll(() => codeOf("runs", "watch"), { interval: 200 }).toBe(0);
  dev.kill("SIGTERM");
  expect(await dev.ended).toMatchObject({ code: 0 });
});
