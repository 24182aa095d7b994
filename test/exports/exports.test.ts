import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { EVERYTHING } from "../../src/core/trust/grant.ts";
import { createCsvExecutor } from "../../src/executors/exports/csv-executor.ts";
import { createReportExecutor } from "../../src/executors/exports/report-executor.ts";
import type { FindExecutor } from "../../src/hosts/executors.ts";
import { filesOfTenant } from "../../src/hosts/tenant-files.ts";
import { compileText } from "../../src/operations/definitions/compile-text.ts";
import { describeRun } from "../../src/operations/runs/describe/describe-run.ts";
import type { Executor } from "../../src/ports/executor.ts";
import type { FileStorage } from "../../src/ports/file-storage.ts";
import { type Play, succeed, World } from "../faults/world.ts";

const SCORES = `
name: scores
input_schema: { properties: { companies: { type: array }, folder: { type: string, default: out } } }
steps:
  - id: score
    parallel_over: input.companies
    prompt: "Score {input.name}"
    retry: { max_attempts: 1, on_failure: skip }
    csv_output: { directory: "{input.folder}", mode: append }
  - id: summary
    depends_on: [score]
    prompt: "{steps.score.output}"
    report: { directory: reports, filename: "of-{date}" }
`;
const COMPANIES = { companies: [{ name: "Acme" }, { name: "Bad" }, { name: "Bee" }] };

function newWorld(secret = "nothing"): World {
  const mask = (text: string) => text.replaceAll(secret, "***");
  return new World({ host: { findExecutor: findExecutorOf(secret), mask } });
}

function findExecutorOf(secret = "nothing"): FindExecutor {
  const mask = (text: string) => text.replaceAll(secret, "***");
  const csv = createCsvExecutor({ mask });
  const report = createReportExecutor({ mask, chromium: () => undefined });
  const plays: Readonly<Record<string, Play>> = {
    score: ({ input }) => {
      const { prompt } = input as { readonly prompt: string };
      if (prompt.includes("Bad")) throw new Error("No score.");
      return succeed({ name: prompt.slice("Score ".length), score: prompt.length });
    },
    summary: () => succeed(`All of them; the key is ${secret}.`),
  };
  const agent: Executor = {
    recordsInput: false,
    run: async (task, signal) => (plays[task.stepId] ?? (() => succeed(null)))(task, signal),
  };
  return async (kind) => (kind === "csv" ? csv : kind === "report" ? report : agent);
}

/** The rows are written, and the process never gets to say so. */
function dyingAfterCsv(wasWritten: () => void): FindExecutor {
  const find = findExecutorOf();
  return async (kind, run) => {
    const executor = await find(kind, run);
    if (kind !== "csv") return executor;
    return {
      recordsInput: false,
      async run(task, signal) {
        await executor.run(task, signal);
        wasWritten();
        return new Promise(() => {});
      },
    };
  };
}

async function run(world: World, input: JsonObject, tenantId?: string) {
  const definition = await compileText(SCORES, { grant: EVERYTHING, folders: [] });
  const start = { definition, input: { folder: "out", ...input }, ...(tenantId === undefined ? {} : { tenantId }) };
  const { id } = await world.host.startRun(start);
  const record = await world.host.settled(id);
  return { record, run: await describeRun(world, record) };
}

async function textOf(files: FileStorage, path: string): Promise<string> {
  return Buffer.from((await files.read(path)) ?? "").toString();
}

test("files are written beside the outputs, which are those of the definition's own steps", async () => {
  const world = newWorld();
  const { run: shown, record } = await run(world, COMPANIES);
  expect(Object.keys(shown.outputs as JsonObject)).toEqual(["score", "summary"]);
  expect(await textOf(world.files, "out/score.csv")).toBe("name,score\r\nAcme,10\r\nBee,9\r\n");
  const path = shown.steps.find((step) => step.path === "summary.report")?.output_data as { readonly path: string };
  expect(path.path).toMatch(/^reports\/of-\d{4}-\d\d-\d\d-.*\.html$/);
  expect(await textOf(world.files, path.path)).toContain("All of them");
  const artifacts = await world.files.list(`artifacts/${record.id}/`);
  expect(artifacts.map((file) => file.path.split("/steps/")[1]).toSorted()).toEqual([
    "score.csv/score.csv",
    `summary.report/${path.path.split("/")[1]}`,
  ]);
  await run(world, { companies: [{ name: "C" }] });
  expect(await textOf(world.files, "out/score.csv")).toBe("name,score\r\nAcme,10\r\nBee,9\r\nC,7\r\n");
});

test("a tenant's files are the tenant's", async () => {
  const world = newWorld();
  await run(world, COMPANIES, "a");
  expect(await textOf(filesOfTenant(world.files, "a"), "out/score.csv")).toContain("Acme");
  expect(await world.files.read("out/score.csv")).toBeUndefined();
});

test("where a file cannot be written the run says so, and keeps its outputs", async () => {
  const world = newWorld();
  const { run: shown } = await run(world, { companies: [{ name: "Acme" }], folder: "../../etc" });
  expect(shown.status).toBe("partial");
  expect(shown.outputs).toMatchObject({ score: [{ name: "Acme" }] });
  expect(shown.steps.find((step) => step.path === "score.csv")).toMatchObject({
    status: "failed",
    error: { code: "STORAGE_PATH_INVALID" },
  });
});

test("a process that dies after it has added rows, and before that is on record, leaves them there once", async () => {
  const first = newWorld();
  const definition = await compileText(SCORES, { grant: EVERYTHING, folders: [] });
  let wasWritten = () => {};
  const written = new Promise<void>((resolve) => {
    wasWritten = resolve;
  });
  const dying = first.next({ host: { findExecutor: dyingAfterCsv(() => wasWritten()) } });
  const { id } = await dying.host.startRun({ definition, input: { ...COMPANIES, folder: "out" } });
  await written;
  // Whoever is dead writes no more: what else was under way is on record before another takes over.
  await expect.poll(() => dying.outputOf(id, "summary.report")).toBeDefined();
  await run(first.next(), { companies: [{ name: "Other" }] });
  const second = first.next();
  await second.host.recover();
  await second.host.settled(id);
  expect(await second.typesOf(id)).toContain("stepInterrupted");
  const lines = (await textOf(second.files, "out/score.csv")).trimEnd().split("\r\n");
  expect(lines.toSorted()).toEqual(["Acme,10", "Bee,9", "Other,11", "name,score"]);
});

test("a secret that a step lets out is masked in its files as it is in its output", async () => {
  const world = newWorld("s3cret");
  await run(world, { companies: [{ name: "s3cret" }], folder: "of-s3cret" });
  const files = await world.files.list("");
  expect(files.map(({ path }) => path)).toContain("of-***/score.csv");
  for (const { path } of files) {
    expect(path).not.toContain("s3cret");
    expect(await textOf(world.files, path)).not.toContain("s3cret");
  }
});
