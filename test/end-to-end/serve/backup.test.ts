import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const LARGE = "x".repeat(200_000);

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

async function start(url: string, question: string): Promise<string> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "question", input: { question } }),
  });
  const { data } = (await response.json()) as { readonly data: { readonly run_id: string } };
  return data.run_id;
}

function listBlobs(folder: string): readonly string[] {
  const names = readdirSync(join(folder, "blobs"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => /[0-9a-f]{62}$/.test(name));
}

test("a backup is made while runs are started, and what is restored has each run that had been acknowledged", async () => {
  const cwd = application(FILES);
  const server = await startServer([], { cwd, env: {} });
  const before: string[] = [];
  for (let n = 0; n < 20; n += 1) before.push(await start(server.url, n === 0 ? LARGE : `${n}?`));
  await fetch(`${server.url}/storage/note.txt`, { method: "PUT", body: "A note." });
  let isOver = false;
  const load = (async () => {
    while (!isOver) await start(server.url, "more?");
  })();
  const to = join(cwd, "copies", "first");
  const made = await pawl(["backup", to, "--json"], { cwd });
  isOver = true;
  await load;
  expect(made.code).toBe(0);
  expect(existsSync(join(to, "secrets.key"))).toBe(false);
  expect((await pawl(["backup", to], { cwd })).stderr).toContain("BACKUP_EXISTS");
  expect((await pawl(["restore", to], { cwd })).stderr).toContain("DATA_LOCKED");
  server.kill("SIGTERM");
  await server.ended;

  expect((await pawl(["restore", to], { cwd })).stderr).toContain("DATA_EXISTS");
  expect((await pawl(["restore", to, "--replace"], { cwd })).code).toBe(0);
  const restored = await startServer([], { cwd, env: {} });
  for (const id of before) expect((await fetch(`${restored.url}/runs/${id}`)).status).toBe(200);
  const { stdout } = await pawl(["runs", "show", before[0] ?? "", "--whole", "--json"], { cwd });
  expect(stdout.includes(LARGE.slice(0, 1_000))).toBe(true);
  expect(await (await fetch(`${restored.url}/storage/note.txt`)).text()).toBe("A note.");
  restored.kill("SIGTERM");
  expect((await restored.ended).stderr).not.toContain("gone");
});

test("a backup that is not whole is not restored, and data that is there stays", async () => {
  const cwd = application(FILES);
  await pawl(["run", "question", "-i", "question=why"], { cwd });
  const to = join(cwd, "copy");
  expect((await pawl(["backup", to], { cwd })).code).toBe(0);
  writeFileSync(join(to, "pawl.db"), "no database");
  expect((await pawl(["restore", to, "--replace"], { cwd })).stderr).toContain("BACKUP_INVALID");
  expect((await pawl(["restore", cwd, "--replace"], { cwd })).stderr).toContain("BACKUP_INVALID");
  expect((await pawl(["runs", "ls"], { cwd })).stdout).toContain("question");
});

test("gc removes old values that no run has, and no others", async () => {
  const cwd = application(FILES);
  const data = join(cwd, ".pawl");
  const id = async (question: string) => {
    const { stdout } = await pawl(["run", "question", "-i", `question=${question}`, "--json"], { cwd });
    return /"run_id":\s*"([^"]+)"/.exec(stdout)?.[1] ?? "";
  };
  const kept = await id(LARGE);
  const removed = await id(`${LARGE}!`);
  const all = listBlobs(data).length;
  expect(all).toBeGreaterThanOrEqual(2);
  const anHourAgo = new Date(Date.now() - 4_000_000);
  for (const name of listBlobs(data)) utimesSync(join(data, "blobs", name), anHourAgo, anHourAgo);
  expect((await pawl(["runs", "rm", removed], { cwd })).code).toBe(0);
  expect((await pawl(["gc", "--dry-run"], { cwd })).stdout).toMatch(/^Would remove 0 runs, [1-9]/);
  expect(listBlobs(data)).toHaveLength(all);
  expect((await pawl(["gc"], { cwd })).stdout).toMatch(/^Removed 0 runs, [1-9]/);
  expect(listBlobs(data).length).toBeLessThan(all);
  const { stdout } = await pawl(["runs", "show", kept, "--whole", "--json"], { cwd });
  expect(stdout.includes(LARGE.slice(0, 1_000))).toBe(true);
  rmSync(join(data, "blobs"), { recursive: true });
  expect((await pawl(["gc"], { cwd })).stdout).toBe("Removed 0 runs, 0 values, 0 bytes\n");
});
