import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { application } from "../end-to-end/support/application.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");

const PROGRAM = `
import { createPawlClient, type OutputOf, type RunStreamEvent } from "pawl/client";

const pawl = createPawlClient({ url: "http://127.0.0.1:8080" });
const { run_id: id } = await pawl.call("POST /workflows/run", { workflow: "x", input: { a: [1] } });
const run = await pawl.call("GET /runs/{id}", { id, prompts: false });
export const status: "queued" | "running" | "waiting" | "awaiting_approval" | "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded" = run.status;
export const bytes: Uint8Array = await pawl.call("GET /storage/{path}", { path: "a/b" });
export const page: OutputOf<"GET /runs"> = await pawl.call("GET /runs");
// @ts-expect-error There is no such route.
await pawl.call("GET /nothing");
// @ts-expect-error An id is a text.
await pawl.call("GET /runs/{id}", { id: 7 });
// @ts-expect-error An id must be there.
await pawl.call("GET /runs/{id}");
// @ts-expect-error A run has no such field.
export const nothing = run.nothing;
for await (const event of pawl.followRun(id)) {
  const told: RunStreamEvent = event;
  if (told.event === "step") console.log(told.data.path);
}
`;

/** As it stands in the docs, and the same from CommonJS, which has no `await` at the top. */
const BLOCKS = [
  "docs/client.md",
  "docs/code-steps.md",
  "docs/typescript.md",
  "docs/first-workflow.md",
  "README.md",
].flatMap((file) =>
  [...readFileSync(join(ROOT, file), "utf8").matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  ),
);

const COMMON = `
import { createPawlClient, type OutputOf } from "pawl/client";
import client = require("pawl/client");
export async function main(): Promise<OutputOf<"GET /runs">> {
  const key: string | undefined = process.env["PAWL_API_KEY"];
  try {
    return await createPawlClient({ url: "http://127.0.0.1:8080", apiKey: key, fetch: undefined }).call("GET /runs");
  } catch (error) {
    if (error instanceof client.ApiError) console.log(error.code, error.status);
    throw error;
  }
}
/** A module of another kind comes by a promise here. */
export async function embedded(): Promise<number> {
  const { openTestPawl, run, workflow } = await import("pawl");
  const flow = workflow("w", {}, () => run("one", { a: 1 }, ({ a }) => a + 1));
  const pawl = await openTestPawl({ workflows: [flow] });
  const result: number = await (await pawl.start(flow, {})).result();
  await pawl.close();
  return result;
}
void embedded().then((result) => console.log(Object.keys(client), result === 2 ? "embedded" : result));
`;

const EVERY = 'Promise.all([import("pawl/client"), import("pawl")])';

/** What a program of today says of its modules. */
const WAYS = [
  ["nodenext", { module: "nodenext" }, "module"],
  ["node16", { module: "node16" }, "module"],
  ["bundler", { module: "esnext", moduleResolution: "bundler" }, "module"],
  ["node16 from CommonJS", { module: "node16" }, "commonjs"],
  ["nodenext from CommonJS", { module: "nodenext" }, "commonjs"],
] as const;

const TSC = join(ROOT, "node_modules/.bin/tsc");

/** What a compiler says of the files of a folder. */
async function complaintsOf(
  tsc: string,
  folder: string,
  files: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
    types: ["node"],
    // Nothing that is published is broken.
    skipLibCheck: false,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    outDir: "out",
    ...options,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const asked = run(tsc, ["--pretty", "false", "-p", folder]);
  const { stdout, stderr } = await asked.catch((error: { stdout: string; stderr: string }) => error);
  return `${stdout}${stderr}`;
}

/** The package as it is published. */
async function pack(folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const [, archive = ""] = /"filename": "([^"]+)"/.exec(stdout) ?? [];
  return join(folder, archive);
}

/** Installed beside what it says it needs and nothing else. */
async function install(type: string): Promise<string> {
  const folder = application({ "package.json": JSON.stringify({ type }) });
  const archive = await pack(folder);
  const installed = join(folder, "node_modules/pawl");
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  mkdirSync(installed);
  await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node", "undici-types"]) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  return folder;
}

test.each(WAYS)(
  "a program compiles every line of what is published, and every block of the docs: %s",
  async (_, modules, type) => {
    const folder = await install(type);
    const programs: Record<string, string> =
      type === "module"
        ? {
            "program.ts": PROGRAM,
            ...Object.fromEntries(BLOCKS.map((text, n) => [`block-${n}.ts`, `${text}\nexport {};\n`])),
          }
        : { "program.ts": COMMON };
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
    expect(await complaintsOf(TSC, folder, Object.keys(programs), modules)).toBe("");
    const asked =
      type === "module"
        ? ["-e", `${EVERY}.then((all) => console.log(all.map(Object.keys), all.length === 2 && "embedded"))`]
        : ["out/program.js"];
    const { stdout } = await run(process.execPath, asked, { cwd: folder });
    expect(stdout).toContain("createPawlClient");
    expect(stdout).toContain("embedded");
  },
);

test("from `npm i` to the end of a first run it takes a minute at most, and no script of a package is run", async () => {
  const folder = application({ "package.json": JSON.stringify({ type: "module" }) });
  const archive = await pack(folder);
  const program = `
    import { openPawl, run, workflow } from "pawl";
    const flow = workflow("first", {}, () => run("answer", {}, () => 42));
    const pawl = await openPawl({ workflows: [flow], data: ".pawl" });
    console.log(await (await pawl.start(flow, {})).result());
    await pawl.close();
  `;
  writeFileSync(join(folder, "first.mjs"), program);
  const startedAt = performance.now();
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", archive], { cwd: folder });
  const installedAt = performance.now();
  const { stdout } = await run(process.execPath, ["first.mjs"], { cwd: folder });
  const endedAt = performance.now();
  expect(stdout).toBe("42\n");
  const took = [installedAt - startedAt, endedAt - installedAt].map((ms) => `${(ms / 1000).toFixed(1)} s`);
  console.log(`npm i: ${took[0]}; the first run, with Node and the engine: ${took[1]}`);
  expect(endedAt - startedAt).toBeLessThan(60_000);
}, 120_000);

/** Beside the one that checks this repository: the last one that was written in TypeScript, and the native one. */
describe.each(["5.9", "7.0"])("TypeScript %s", (version) => {
  async function installed(): Promise<{ readonly folder: string; readonly tsc: string }> {
    const compiler = application({ "package.json": "{}" });
    await run("npm", ["install", "--no-audit", "--no-fund", `typescript@${version}`], { cwd: compiler });
    return { folder: await install("module"), tsc: join(compiler, "node_modules/.bin/tsc") };
  }

  test("compiles what is published and the blocks of the docs, and refuses the mistakes of a definition in words that name them", async () => {
    const { folder, tsc } = await installed();
    expect((await run(tsc, ["--version"])).stdout).toContain(version);
    const programs = Object.fromEntries(
      [PROGRAM, ...BLOCKS].map((text, n) => [`block-${n}.ts`, `${text}\nexport {};\n`]),
    );
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
    expect(await complaintsOf(tsc, folder, Object.keys(programs), { module: "nodenext" })).toBe("");

    const mistakes = readFileSync(join(ROOT, "test/fixtures/typescript/mistakes.ts"), "utf8");
    const text = mistakes.replaceAll(/from "[./]+src\/[^"]+"/g, 'from "pawl"');
    writeFileSync(join(folder, "mistakes.ts"), text);
    const told = await complaintsOf(tsc, folder, ["mistakes.ts"], {
      module: "nodenext",
      exactOptionalPropertyTypes: false,
    });
    const blocks = told.split(/^.*mistakes\.ts(?=\()/m).slice(1);
    const wanted = text.split("\n").flatMap((line, index) => {
      const [, codes, words = ""] = /\/\/! TS([\d|]+) (.*)$/.exec(line) ?? [];
      return codes === undefined ? [] : [{ line: index + 1, codes, words }];
    });
    expect(wanted.length).toBeGreaterThan(30);
    expect(new Set(blocks.map((block) => Number(/\d+/.exec(block)?.[0])))).toEqual(
      new Set(wanted.map(({ line }) => line)),
    );
    for (const { line, codes, words } of wanted) {
      const fits = new RegExp(`^\\(${line},\\d+\\): error TS(${codes}): `);
      expect(
        blocks.filter((block) => fits.test(block) && block.includes(words)),
        `line ${line}: ${words}`,
      ).not.toEqual([]);
    }
  });
});

test("`pawl init ts` lays out a project that compiles, runs from the command line and with an engine of its own", async () => {
  const folder = await install("module");
  const pawl = join(folder, "node_modules/pawl/bin/pawl.cjs");
  const laidOut = await run(process.execPath, [pawl, "init", "ts", "."], { cwd: folder }).catch((error) => error);
  // Its `package.json` was there: it is left alone, and what it lacks is said.
  expect(laidOut.stderr).toContain("npm install pawl zod");
  await run(process.execPath, [pawl, "init", "ts", "mine"], { cwd: folder });
  const mine = join(folder, "mine");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { dependencies, scripts } = JSON.parse(readFileSync(join(mine, "package.json"), "utf8"));
  expect(dependencies.pawl).toBe(`^${version}`);
  const flow = readFileSync(join(mine, "flow.ts"), "utf8");
  expect(flow.split("\n").length).toBeLessThan(40);
  expect((await run(TSC, ["-p", mine])).stdout).toBe("");
  const ran = await run(process.execPath, [pawl, "run", "flow.ts#words"], { cwd: mine });
  expect(JSON.parse(ran.stdout)).toEqual({ texts: 2, words: 10 });
  expect(scripts.start).toBe("node start.ts");
  expect((await run("npm", ["start", "--silent"], { cwd: mine })).stdout).toBe("{ texts: 2, words: 6 }\n");
});

const RELOADED = `
import { run, wait, workflow } from "./b/lib.mjs";
const { searchParams } = new URL(import.meta.url);
const v = searchParams.get("v");
export const shop = workflow("shop", {}, () => {
  const first = run("first", {}, () => v);
  wait("go", { event: "go" });
  return run("pay", { first }, ({ first }) => \`\${first} paid by \${v}\`, { version: Number(searchParams.get("version") ?? 1) });
});
`;

const COPIES = `
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as one from "./a/lib.mjs";
import * as two from "./b/lib.mjs";
const three = await createRequire(import.meta.url)("./b/lib.cjs").load();
assert.notEqual(one.openPawl, two.openPawl);
const options = { data: "data", agent: "simulated" };
let count = 0;
const a = one.workflow("a", {}, () => one.run("x", {}, () => (count += 1)));
const b = two.workflow("b", {}, () => {
  // A step of the other copy.
  const y = one.run("y", {}, () => (count += 1));
  two.wait("go", { event: "go" });
  return two.run("z", { y }, ({ y }) => { count += 1; throw new one.StepFailure("OTHER", "copy " + y); });
});
const [p1, p2, p3] = await Promise.all([
  one.openPawl({ ...options, workflows: [a], serve: { port: 0 } }),
  two.openPawl({ ...options, workflows: [b] }),
  three.openPawl({ ...options, workflows: [] }),
]);
assert.equal(p2.url, p1.url);
assert.equal(await (await p2.start(a, {})).result(), 1);
assert.equal(await (await p3.start({ name: "a" }, {})).result(), 2);
async function until(pawl, id, path, status) {
  for await (const { event, data } of pawl.run(id).events()) if (event === "step" && data.path === path && data.status === status) return;
}
const { id } = await p1.start(b, {});
await until(p3, id, "go", "waiting");
// The others go on when one is closed.
await p1.close();
await p2.signal(id, "go");
const failed = await p2.run(id).result().catch((error) => error);
assert.ok(failed instanceof two.RunFailed && failed.code === "OTHER" && failed.message === "copy 3");
assert.equal(count, 4);

// A reload: what was imported last is what runs call, also those under way.
const { shop: first } = await import("./flow.mjs?v=1");
await p2.add([first]);
const begun = await p2.start(first, {});
await until(p2, begun.id, "go", "waiting");
const { shop: second } = await import("./flow.mjs?v=2");
const p4 = await one.openPawl({ ...options, workflows: [second] });
await p2.signal(begun.id, "go");
assert.equal(await p4.run(begun.id).result(), "1 paid by 2");
// With another version it is not: that waits, and is told.
const later = await p4.start(second, {});
await until(p4, later.id, "go", "waiting");
const p5 = await two.openPawl({ ...options, workflows: [(await import("./flow.mjs?v=3&version=2")).shop] });
await p4.close();
await p5.signal(later.id, "go");
await until(p5, later.id, "pay", "held");
assert.equal((await p5.run(later.id).status()).error.code, "PROGRAM_MISSING");
await p5.add([second]);
assert.equal(await p5.run(later.id).result(), "2 paid by 2");
for (const pawl of [p2, p3, p5]) await pawl.close();

const again = await one.openPawl({ ...options, workflows: [a] });
assert.equal(await (await again.start(a, {})).result(), 5);
await again.close();
assert.deepEqual([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")], [0, 0]);
console.log("all of it");
`;

test("two copies of the package, of both kinds of modules, and a reload have one engine for the same data", async () => {
  const folder = application({ "package.json": '{"type": "module"}', "main.mjs": COPIES, "flow.mjs": RELOADED });
  for (const name of ["a", "b"]) {
    renameSync(await install("module"), join(folder, name));
    writeFileSync(join(folder, name, "lib.mjs"), 'export * from "pawl";');
    writeFileSync(join(folder, name, "lib.cjs"), 'exports.load = () => import("pawl");');
  }
  const { stdout, stderr } = await run(process.execPath, ["main.mjs"], { cwd: folder });
  expect({ stdout, stderr }).toEqual({ stdout: "all of it\n", stderr: "" });
});
