import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
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
    const settings = {
      compilerOptions: {
        ...modules,
        target: "es2024",
        lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
        types: ["node"],
        // Nothing that is published is broken.
        skipLibCheck: false,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        outDir: "out",
      },
      files: Object.keys(programs),
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: unknown) => error);
    expect(compiled).toMatchObject({ stdout: "", stderr: expect.not.stringContaining("error") });
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
