import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { listTestFiles } from "../../../operations/definitions/definition-files.ts";
import { readTestFile, runTest, type TestReport } from "../../../operations/tests/run-test.ts";
import type { StandInCall } from "../../../ports/stand-ins.ts";
import { type CommonOptions, type OpenApp, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";
import { io } from "../process-io.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { Voice } from "../voice.ts";
import { toOpenOptions } from "../with-app.ts";

export interface TestOptions extends CommonOptions {
  readonly only?: string;
  readonly junit?: string;
}

interface FileReport {
  readonly file: string;
  readonly cases: readonly TestReport[];
  /** Steps that no case has run. */
  readonly untried: readonly string[];
  readonly steps: number;
}

/** `pawl test`: 0 if all holds, else 1. Throws `SCRIPT_INVALID` before any test has run. */
export async function test(files: readonly string[], openApp: OpenApp, options: TestOptions): Promise<number> {
  const found = files.length > 0 ? files.map((file) => resolve(file)) : await listTestFiles(resolve(options.app));
  if (found.length === 0)
    throw new PawlError("FILE_NOT_FOUND", {
      message: "The application has no tests.",
      remedy: "Write what must hold into a file beside the workflow, e.g. `orders.test.yaml` for `orders.yaml`.",
    });
  const read = await Promise.all(
    found.map(async (file) => ({ file, tests: await readTestFile(file, relative(process.cwd(), file)) })),
  );
  const reports: FileReport[] = [];
  for (const { file, tests } of read) {
    const cases: TestReport[] = [];
    const workflow = tests.workflow ?? basename(file).replace(".test.", ".");
    for (const each of tests.cases.filter(({ name }) => name.includes(options.only ?? "")))
      cases.push(await runAlone({ openApp, options, workflow, folder: dirname(file) }, each));
    const report = toFileReport(relative(process.cwd(), file), cases);
    reports.push(report);
    if (options.json !== true && cases.length > 0) print(describe(report));
  }
  const all = reports.flatMap(({ cases }) => cases);
  const failed = all.filter(({ failures }) => failures.length > 0).length;
  if (options.junit !== undefined) await writeFile(options.junit, toJunit(reports));
  if (options.json === true)
    printEnvelope(reports.map(({ cases, ...report }) => ({ ...report, cases: cases.map(shown) })));
  else print(`${all.length - failed} passed, ${failed} failed`);
  if (all.length === 0) throw new PawlError("USAGE", { message: `No case is named so: ${options.only}.` });
  return failed === 0 ? 0 : 1;
}

interface Around {
  readonly openApp: OpenApp;
  readonly options: TestOptions;
  readonly workflow: string;
  readonly folder: string;
}

/** In a folder of its own, which goes with it. */
async function runAlone(
  { openApp, options, workflow, folder }: Around,
  test: Parameters<typeof runTest>[3],
): Promise<TestReport> {
  const data = await mkdtemp(join(tmpdir(), "pawl-test-"));
  const calls: StandInCall[] = [];
  const standIns = { ...test, called: (call: StandInCall) => void calls.push(call) };
  try {
    const opened = toOpenOptions({ ...options, data }, new Voice());
    const app = await openApp({ ...opened, standIns });
    try {
      return await runTest({ app, calls }, workflow, folder, test);
    } finally {
      await app.close();
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

function toFileReport(file: string, cases: readonly TestReport[]): FileReport {
  const steps = new Set(cases.flatMap((each) => [...each.steps]));
  const ran = new Set(cases.flatMap((each) => [...each.ran]));
  return { file, cases, steps: steps.size, untried: [...steps].filter((step) => !ran.has(step)) };
}

function describe({ file, cases, untried, steps }: FileReport): string {
  const paint = paintFor(io().stdout);
  const lines = cases.flatMap(({ name, failures, durationMs }) => [
    failures.length === 0
      ? `  ${paint("green", "✓")} ${sanitize(name)} (${durationMs} ms)`
      : `  ${paint("red", "✗")} ${sanitize(name)}`,
    ...failures.map((failure) => `      ${sanitize(failure)}`),
  ]);
  const covered = `  ${steps - untried.length} of ${steps} steps ran${untried.length === 0 ? "" : `; not: ${untried.join(", ")}`}`;
  return [file, ...lines, covered].join("\n");
}

function shown({ name, failures, durationMs }: TestReport) {
  return { name, passed: failures.length === 0, failures: [...failures], duration_ms: durationMs };
}

function toJunit(reports: readonly FileReport[]): string {
  const suites = reports.map(({ file, cases }) => {
    const failed = cases.filter(({ failures }) => failures.length > 0).length;
    const rows = cases.map(({ name, failures, durationMs }) => {
      const failure =
        failures.length === 0
          ? ""
          : `<failure message="${toXml(failures[0] ?? "")}">${toXml(failures.join("\n"))}</failure>`;
      return `    <testcase classname="${toXml(file)}" name="${toXml(name)}" time="${durationMs / 1_000}">${failure}</testcase>`;
    });
    return `  <testsuite name="${toXml(file)}" tests="${cases.length}" failures="${failed}">\n${rows.join("\n")}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}

/** XML has no control characters, not even escaped. */
function toXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g, "\uFFFD")
    .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
