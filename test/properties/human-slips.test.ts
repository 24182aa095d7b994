import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../src/core/json.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { prepareRun } from "../../src/operations/start/prepare-run.ts";
import { validateDefinition } from "../../src/operations/workflows/validate-definition.ts";
import { ROOT } from "../support/fixtures.ts";
import { Dice, findSlips, misspelt, type Slip } from "./human-slips.ts";
import { rounds } from "./rounds.ts";

/** The same seed makes the same slips: `PAWL_TEST_SEED=7 npx vitest run test/properties`. */
const SEED = Number(process.env["PAWL_TEST_SEED"] ?? 1);
const COUNT = Math.min(rounds(300), 3_000);
const NEVER = new AbortController().signal;
const DIALECTS = ["sandcastle", "uhlp", "terminal", "agents"] as const;

interface RealFile {
  readonly dialect: (typeof DIALECTS)[number];
  /** The copy of an application. Absent: the file belongs to none. */
  readonly folder?: string;
  readonly file: string;
  readonly text: string;
  /** Of a file of agents: the workflow that is started. */
  readonly part?: string | undefined;
  readonly inputFile?: string | undefined;
  readonly inputPairs?: readonly string[];
}

/** For definitions that take another input than their application's. */
const INPUTS: Readonly<Record<string, readonly string[]>> = {
  "agents.json": ["message=Hello"],
  "check-sums.yaml": [],
  "expressions.yaml": ["name=Ada", "orders=[]"],
  "invoice.yaml": ["api=https://example.com", "amount=1"],
};

const scratch = mkdtempSync(join(tmpdir(), "pawl-slips-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));
const apps = new Map<string, Awaited<ReturnType<typeof createApp>>>();
afterAll(() => Promise.all([...apps.values()].map((app) => app.leave(NEVER, NEVER))));

/** Valid definitions of the tests, each alone. */
function fixtures(): readonly RealFile[] {
  const files = globSync("test/fixtures/{sandcastle,uhlp,agents}/valid/*.{yaml,json}", { cwd: ROOT });
  return files.sort().flatMap((file): RealFile[] => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const dialect = DIALECTS.find((name) => file.includes(`/${name}/`));
    return dialect === undefined || /\.graphs?\.json$/.test(file) ? [] : [{ dialect, file, text }];
  });
}

/** Definitions of examples and templates, with the scripts, prompts and servers that they name. */
function realFiles(): readonly RealFile[] {
  const folders = globSync(["templates/*/", "examples/{orders,uhlp,agents,work-steps,terminal}/"], { cwd: ROOT });
  return folders.sort().flatMap((name) => {
    const folder = join(scratch, name.replaceAll("/", "-"));
    cpSync(join(ROOT, name), folder, { recursive: true });
    // Servers import packages of ours.
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const [inputFile] = globSync("*.input.json", { cwd: folder });
    return globSync(["workflows/*.{yaml,json}", "*.yaml", "*.json"], { cwd: folder })
      .sort()
      .flatMap((file): RealFile[] => {
        const text = readFileSync(join(folder, file), "utf8");
        const dialect = dialectOf(text, basename(file));
        if (dialect === undefined) return [];
        const inputPairs = INPUTS[basename(file)];
        return [
          {
            dialect,
            folder,
            file,
            text,
            part: firstWorkflow(text, dialect),
            ...(inputPairs === undefined ? { inputFile } : { inputPairs }),
          },
        ];
      });
  });
}

function firstWorkflow(text: string, dialect: RealFile["dialect"]): string | undefined {
  if (dialect !== "agents") return undefined;
  const { workflows } = JSON.parse(text) as { readonly workflows?: readonly { readonly name: string }[] };
  return workflows?.[0]?.name;
}

function dialectOf(text: string, file: string): RealFile["dialect"] | undefined {
  if (/^(pawl|model|mock-model)\.|\.input\.json$|script\.yaml$/.test(file)) return undefined;
  if (text.includes('"initial_state"')) return "terminal";
  if (text.includes("startAt:")) return "uhlp";
  return /^\s*[[{]/.test(text) ? "agents" : "sandcastle";
}

async function appIn(folder: string) {
  const known = apps.get(folder);
  if (known !== undefined) return known;
  const environment = { PATH: process.env["PATH"], PAWL_REPORTS__CHROMIUM: "off", PAWL_AGENT__PROVIDER: "simulated" };
  const options = {
    appDir: folder,
    flags: {},
    environment,
    program: [],
    tell: () => undefined,
    onDefect: () => undefined,
  };
  const app = await createApp(options);
  apps.set(folder, app);
  return app;
}

/** What is said of a file before anything is spent: errors and warnings with their places. */
async function reportsOn(
  { folder, file, part, inputFile, inputPairs }: RealFile,
  text: string,
): Promise<readonly string[]> {
  if (folder === undefined) return (await loadDefinition({ text, file }, { select: "all" })).problems.map(describe);
  const app = await appIn(folder);
  writeFileSync(join(folder, file), text);
  const { valid, problems } = await validateDefinition(app, file, folder);
  const told = problems.map(describe);
  if (!valid) return told;
  try {
    const { definition } = await prepareRun(app, {
      workflow: part === undefined ? file : `${file}#${part}`,
      folder,
      agent: "simulated",
      ...(inputFile === undefined ? {} : { inputFile }),
      ...(inputPairs === undefined ? {} : { inputPairs }),
    });
    return [...told, ...(definition.warnings ?? []).map(describe)];
  } catch (error) {
    if (!isPawlError(error)) throw error;
    const { problems: listed } = isJsonObject(error.details) ? error.details : {};
    return [
      ...told,
      ...(Array.isArray(listed) ? listed.map(describe) : [`${UNPLACED} ${error.code} ${error.message}`]),
    ];
  }
}

/** That somewhere is something wrong is not enough. */
const UNPLACED = "somewhere";

function describe(problem: unknown): string {
  const { code, severity, message, place } = problem as { readonly [key: string]: Json };
  const line = isJsonObject(place) ? place["line"] : undefined;
  return line === undefined ? `${UNPLACED} ${code}` : `${severity} ${code} ${message}`;
}

function keysOf(dialect: string): ReadonlySet<string> {
  const name = dialect === "agents" ? "agents-file" : `${dialect}-workflow`;
  const keys = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === "properties" && typeof each === "object" && each !== null)
        for (const own of Object.keys(each)) keys.add(own);
      look(each);
    }
  };
  look(JSON.parse(readFileSync(join(ROOT, `schemas/${name}.schema.json`), "utf8")));
  return keys;
}

const FILES = [...realFiles(), ...fixtures()];

test(`${COUNT} slips in real files are told with file and line before anything is spent (seed ${SEED})`, async () => {
  expect(new Set(FILES.map(({ dialect }) => dialect))).toEqual(new Set(DIALECTS));
  const dice = new Dice(SEED);
  const original = new Map<RealFile, ReadonlySet<string>>();
  for (const file of FILES) {
    const told = await reportsOn(file, file.text);
    const alarms = told.filter((line) => !line.startsWith("warning"));
    expect.soft(alarms, file.file).toEqual([]);
    original.set(file, new Set(told));
  }
  const tally = new Map<string, { made: number; told: number }>();
  const missed: string[] = [];
  for (let made = 0; made < COUNT; ) {
    const dialect = DIALECTS[made % DIALECTS.length] ?? "sandcastle";
    const file = dice.pick(FILES.filter((each) => each.dialect === dialect));
    const slip = file && makeSlip(file, dice);
    if (file === undefined || slip === undefined) continue;
    made += 1;
    const told = await reportsOn(file, slip.text);
    if (file.folder !== undefined) writeFileSync(join(file.folder, file.file), file.text);
    const isTold = told.some((line) => !line.startsWith(UNPLACED) && !original.get(file)?.has(line));
    const count = tally.get(slip.kind) ?? { made: 0, told: 0 };
    tally.set(slip.kind, { made: count.made + 1, told: count.told + (isTold ? 1 : 0) });
    if (!isTold) missed.push(`${file.dialect} ${file.file} ${slip.kind}: ${slip.what}`);
  }
  const share = 1 - missed.length / COUNT;
  const kinds = [...tally].map(([kind, { made, told }]) => `${kind} ${told}/${made}`).join(", ");
  console.log(`Seed ${SEED}: ${Math.round(share * 1_000) / 10} % of ${COUNT} slips were told (${kinds}).`);
  if (missed.length > 0) console.log(missed.join("\n"));
  expect(share).toBeGreaterThanOrEqual(0.95);
}, 600_000);

function makeSlip({ dialect, text }: RealFile, dice: Dice): Slip | undefined {
  const slips = findSlips(text, keysOf(dialect));
  const kind = dice.pick([...new Set(slips.map((slip) => slip.kind))]);
  const chosen = dice.pick(slips.filter((slip) => slip.kind === kind));
  const edited = chosen?.apply(dice);
  return chosen === undefined || edited === undefined || edited === text ? undefined : { ...chosen, text: edited };
}

test("a declared input that is misspelt is refused before anything is spent, and the right name is told", async () => {
  const dice = new Dice(SEED);
  let made = 0;
  for (const { folder, file, part, inputFile, inputPairs = [] } of FILES) {
    if (folder === undefined) continue;
    const app = await appIn(folder);
    const request = { workflow: part === undefined ? file : `${file}#${part}`, folder, agent: "simulated" };
    const own = inputPairs.length > 0 ? { inputPairs } : inputFile === undefined ? {} : { inputFile };
    const { definition, input } = await prepareRun(app, { ...request, ...own });
    for (const name of definition.graph.input.declared) {
      const wrong = name.length < 4 ? undefined : misspelt(name, dice);
      if (wrong === undefined || !Object.hasOwn(input, name)) continue;
      const { [name]: value, ...others } = input;
      writeFileSync(join(folder, "slip.json"), JSON.stringify({ ...others, [wrong]: value }));
      const refused = prepareRun(app, { ...request, inputFile: "slip.json" });
      await expect(refused, `${file}: ${wrong}`).rejects.toMatchObject({ code: "INPUT_INVALID" });
      made += 1;
    }
  }
  expect(made).toBeGreaterThan(10);
});
