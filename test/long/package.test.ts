import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
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

const SETTINGS = {
  compilerOptions: {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
    // Nothing of Node is needed, and nothing that is published is broken.
    types: [],
    skipLibCheck: false,
    strict: true,
    noEmit: true,
  },
  files: ["program.ts"],
};

test("a program that has installed the package calls every route with its types", async () => {
  const folder = application({ "package.json": '{ "type": "module" }', "program.ts": PROGRAM });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: ROOT });
  const [, archive = ""] = /"filename": "([^"]+)"/.exec(stdout) ?? [];
  const installed = join(folder, "node_modules/pawl");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", join(folder, archive), "-C", installed, "--strip-components=1"]);
  for (const name of ["zod", "eventsource-parser"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: unknown) => error);
  expect(compiled).toMatchObject({ stdout: "", stderr: expect.not.stringContaining("error") });
  const imported = await run(
    process.execPath,
    ["-e", 'import("pawl/client").then((m) => console.log(Object.keys(m)))'],
    {
      cwd: folder,
    },
  );
  expect(imported.stdout).toContain("createPawlClient");
});
