import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { listTestFiles } from "../../../operations/definitions/definition-files.ts";
import { addCoverage } from "../../../operations/tests/coverage.ts";
import { Deaths } from "../../../operations/tests/deaths.ts";
import {
  goOnAfter,
  readTestFile,
  runTest,
  type TestParts,
  type TestReport,
} from "../../../operations/tests/run-test.ts";
import type { StandInCall, StandIns } from "../../../ports/stand-ins.ts";
import { type CommonOptions, type OpenApp, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";
import { io } from "../process-io.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { Voice } from "../voice.ts";
import { toOpenOptions } from "../with-app.ts";

export interface TestOptions extends CommonOptions {
  readonly only?: string;
  readonly junit?: string;
  readonly kill?: true;
}

interface CaseReport extends TestReport {
  /** Tried with `--kill`, where it holds without one. */
  readonly kills?: Kills;
}

interface Kills {
  readonly tried: number;
  /** Places between two events. */
  readonly places: number;
  /** Steps that were asked again, and those that may not be. */
  readonly again: readonly string[];
  readonly interrupted: readonly string[];
}

interface FileReport {
  readonly file: string;
  readonly cases: readonly CaseReport[];
  readonly steps: number;
  /** Steps that no case has run. */
  readonly untried: readonly string[];
  readonly transitions: number;
  readonly untaken: readonly string[];
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
    const cases: CaseReport[] = [];
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

type Test = Parameters<typeof runTest>[3];

/** In a folder of its own, which goes with it. */
async function runAlone(around: Around, test: Test): Promise<CaseReport> {
  const folder = await mkdtemp(join(tmpdir(), "pawl-test-"));
  const data = join(folder, "data");
  const calls: StandInCall[] = [];
  const deaths = around.options.kill === true ? new Deaths(data, calls) : undefined;
  try {
    const report = await inWorld(
      around,
      { data, calls, test, between: deaths && ((place) => deaths.between(place)) },
      (parts) => runTest(parts, around.workflow, around.folder, test),
    );
    return deaths === undefined || report.failures.length > 0 ? report : await tryDeaths(around, test, deaths, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface World {
  readonly data: string;
  readonly calls: StandInCall[];
  readonly test: Test;
  readonly between?: StandIns["between"];
}

async function inWorld<T>(
  { openApp, options }: Around,
  { data, calls, test, between }: World,
  work: (parts: TestParts) => Promise<T>,
): Promise<T> {
  const standIns = { ...test, between, called: (call: StandInCall) => void calls.push(call) };
  const app = await openApp({ ...toOpenOptions({ ...options, data }, new Voice()), standIns, tell: () => undefined });
  try {
    return await work({ app, calls });
  } finally {
    await app.close();
  }
}

async function tryDeaths(
  around: Around,
  test: Test,
  { kept, places }: Deaths,
  report: TestReport,
): Promise<CaseReport> {
  const { end } = report;
  if (end === undefined) return report;
  const began = performance.now();
  const failures: string[] = [];
  const [again, interrupted] = [new Set<string>(), new Set<string>()];
  for (const death of kept) {
    const world = { data: death.data, calls: [...death.calls], test };
    const found = await inWorld(around, world, (parts) => goOnAfter(parts, test, death, end));
    failures.push(...found.failures.map((failure) => `killed after ${death.after}: ${failure}`));
    for (const step of found.again) again.add(step);
    for (const step of found.interrupted) interrupted.add(step);
    await rm(death.data, { recursive: true, force: true });
  }
  const durationMs = report.durationMs + Math.round(performance.now() - began);
  const kills = { tried: kept.length, places, again: [...again], interrupted: [...interrupted] };
  return { ...report, failures, durationMs, kills };
}

function describeKills({ tried, places, again, interrupted }: Kills): readonly string[] {
  return [
    `killed at ${tried === places ? tried : `${tried} of ${places}`} places`,
    ...(again.length === 0 ? [] : [`asked again, under the same idempotency key: ${again.join(", ")}`]),
    ...(interrupted.length === 0 ? [] : [`not repeated, and failed with INTERRUPTED: ${interrupted.join(", ")}`]),
  ];
}

function toFileReport(file: string, cases: readonly CaseReport[]): FileReport {
  const { steps, transitions } = addCoverage(cases.map(({ coverage }) => coverage));
  const not = (all: ReadonlyMap<string, boolean>) => [...all].flatMap(([name, isTried]) => (isTried ? [] : [name]));
  return {
    file,
    cases,
    steps: steps.size,
    untried: not(steps),
    transitions: transitions.size,
    untaken: not(transitions),
  };
}

function describeCoverage({ steps, untried, transitions, untaken }: FileReport): readonly string[] {
  const of = (all: number, not: readonly string[]) => `${all - not.length} of ${all}`;
  return [
    `  ${of(steps, untried)} steps ran${untried.length === 0 ? "" : `; not: ${untried.join(", ")}`}`,
    ...(transitions === 0
      ? []
      : [`  ${of(transitions, untaken)} transitions taken${untaken.length === 0 ? "" : "; not:"}`]),
    ...untaken.map((each) => `      ${sanitize(each)}`),
  ];
}

function describe(report: FileReport): string {
  const paint = paintFor(io().stdout);
  const lines = report.cases.flatMap(({ name, failures, durationMs, kills }) => [
    failures.length === 0
      ? `  ${paint("green", "✓")} ${sanitize(name)} (${durationMs} ms)`
      : `  ${paint("red", "✗")} ${sanitize(name)}`,
    ...[...failures, ...(kills === undefined ? [] : describeKills(kills))].map((line) => `      ${sanitize(line)}`),
  ]);
  return [report.file, ...lines, ...describeCoverage(report)].join("\n");
}

function shown({ name, failures, durationMs, kills }: CaseReport) {
  return {
    name,
    passed: failures.length === 0,
    failures,
    duration_ms: durationMs,
    ...(kills && { kills: { ...kills } }),
  };
}

function toJunit(reports: readonly FileReport[]): string {
  const suites = reports.map((report) => {
    const { file, cases } = report;
    const failed = cases.filter(({ failures }) => failures.length > 0).length;
    const rows = cases.map(({ name, failures, durationMs, kills }) => {
      const failure =
        failures.length === 0
          ? ""
          : `<failure message="${toXml(failures[0] ?? "")}">${toXml(failures.join("\n"))}</failure>`;
      const told = kills === undefined ? "" : `<system-out>${toXml(describeKills(kills).join("\n"))}</system-out>`;
      return `    <testcase classname="${toXml(file)}" name="${toXml(name)}" time="${durationMs / 1_000}">${failure}${told}</testcase>`;
    });
    return `  <testsuite name="${toXml(file)}" tests="${cases.length}" failures="${failed}">\n${rows.join("\n")}\n    <system-out>${toXml(describeCoverage(report).join("\n"))}</system-out>\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}

/** XML has no control characters, not even escaped. */
function toXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g, "\uFFFD")
    .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
