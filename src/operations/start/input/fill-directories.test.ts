import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../../../../test/end-to-end/support/application.ts";
import { MemoryFileStorage } from "../../../../test/support/memory/memory-file-storage.ts";
import { loadConfig } from "../../../config/load-config.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { EVERYTHING } from "../../../core/trust/grant.ts";
import { filesOfTenant } from "../../../hosts/tenant-files.ts";
import { compileText } from "../../definitions/compile-text.ts";
import { fillDirectories } from "./fill-directories.ts";
import { folderSource, readDirectory } from "./read-directory.ts";
import { toRunInput } from "./to-run-input.ts";

const FILES = {
  "docs/b.md": "# B",
  "docs/a.md": "A",
  "docs/deep/c.MD": "C",
  "docs/notes.txt": "notes",
  "docs/.hidden.md": "hidden",
  "docs/.git/x.md": "hidden",
  "docs/node_modules/x.md": "hidden",
  "secret/key.md": "secret",
};

async function world(directory: Json = { include: ["*.md"] }, folders: readonly string[] = []) {
  const appDir = application({ ...FILES, "pawl.yaml": JSON.stringify({ inputs: { folders } }) });
  writeFileSync(join(appDir, "docs/picture.md"), Buffer.from([0x89, 0x50, 0, 0xff]));
  symlinkSync(join(appDir, "secret"), join(appDir, "docs/link"));
  symlinkSync(join(appDir, "secret/key.md"), join(appDir, "docs/link.md"));
  const config = await loadConfig({ appDir, flags: {}, environment: {} });
  const files = new MemoryFileStorage();
  const schema = { required: ["docs"], properties: { docs: { type: "array", directory } } };
  const text = JSON.stringify({ name: "w", input_schema: schema, steps: [{ id: "a", prompt: "{input.docs}" }] });
  const { graph } = await compileText(text, { grant: EVERYTHING, folders: [] });
  const fill = async (docs: Json, { standsIn, tenant }: { standsIn?: string; tenant?: string } = {}) => {
    const app = { appDir, config, files: async () => filesOfTenant(files, tenant) };
    const given = await fillDirectories(app, { docs }, { graph, standsIn });
    return (await toRunInput(given, graph))["docs"];
  };
  return { appDir, files, fill };
}

const pathsOf = (items: Json | undefined) => (items as readonly JsonObject[]).map(({ path }) => path);

test("a person's folder becomes its texts, by their paths, without links, hidden names and what is no text", async () => {
  const { appDir, fill } = await world();
  expect(await fill("docs", { standsIn: appDir })).toEqual([
    { path: "a.md", name: "a.md", bytes: 1, text: "A" },
    { path: "b.md", name: "b.md", bytes: 3, text: "# B" },
    { path: "deep/c.MD", name: "c.MD", bytes: 1, text: "C" },
  ]);
  expect(await fill("../docs", { standsIn: join(appDir, "secret") })).toHaveLength(3);
  expect(await fill([{ text: "sent" }])).toEqual([{ text: "sent" }]);
  const all = await world(true);
  expect(pathsOf(await all.fill("docs", { standsIn: all.appDir }))).toEqual(["a.md", "b.md", "deep/c.MD", "notes.txt"]);
  const flat = await world({ recursive: false, include: "?.md" });
  expect(pathsOf(await flat.fill("docs", { standsIn: flat.appDir }))).toEqual(["a.md", "b.md"]);
});

test("a client names no folder of the server but those that the configuration lists", async () => {
  const { appDir, fill } = await world(true);
  for (const named of ["docs", "secret", "nowhere", "/etc", "../..", appDir, "docs\0"]) {
    const refused = fill(named).catch((error: unknown) => error);
    expect(await refused, named).toMatchObject({ code: "INPUT_INVALID" });
  }
  const said = async (named: string) => String(await fill(named).catch((error: unknown) => error));
  expect((await said("secret")).replace("secret", "X")).toBe((await said("nowhere")).replace("nowhere", "X"));
  const listed = await world(true, ["docs"]);
  expect(pathsOf(await listed.fill("docs/deep"))).toEqual(["c.MD"]);
  expect(pathsOf(await listed.fill(join(listed.appDir, "docs")))).toHaveLength(4);
  for (const named of ["docs/link", "docs/../secret", "docs2", "."]) {
    if (named === "docs2") mkdirSync(join(listed.appDir, named));
    await expect(listed.fill(named), named).rejects.toMatchObject({ code: "INPUT_INVALID" });
  }
});

test("stored files are a folder too, for a tenant the tenant's", async () => {
  const { files, fill } = await world();
  await files.write("mail/1.md", "application's");
  await filesOfTenant(files, "a").write("mail/1.md", "tenant's");
  await filesOfTenant(files, "a").write("mail/old/.x/2.md", "hidden");
  expect(await fill("storage:mail")).toMatchObject([{ path: "1.md", text: "application's" }]);
  expect(await fill("storage:mail/", { tenant: "a" })).toMatchObject([{ path: "1.md", text: "tenant's" }]);
  await expect(fill("storage:mail", { tenant: "b" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(fill("storage:../../x", { tenant: "b" })).rejects.toMatchObject({ code: "STORAGE_PATH_INVALID" });
});

test("what is too large or too much is refused with its place, and never cut", async () => {
  const { appDir, fill } = await world({ include: "*.md", max_files: 2 });
  const refusal = (named: string) => fill(named, { standsIn: appDir }).catch((error: unknown) => String(error));
  expect(await refusal("docs")).toContain("docs has 4 files; 2 are read");
  writeFileSync(join(appDir, "secret/big.md"), "x".repeat(1024 * 1024 + 1));
  expect(await refusal("secret")).toContain("secret has big.md with 1048577 bytes");
  expect(await refusal("nowhere")).toContain("there is no folder nowhere");
  expect(await refusal("docs/a.md")).toContain("there is no folder docs/a.md");
});

test.runIf(process.platform === "linux")("a file that cannot be read is an error with its place", async () => {
  const source = folderSource("/proc/self", "notes");
  const reading = readDirectory(source, { include: ["mem"], recursive: false, maxFiles: 1 });
  await expect(reading).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("notes has mem, which cannot be read"),
  });
  const gone = readDirectory(folderSource("/nowhere/at/all", "gone"), { include: [], recursive: true, maxFiles: 1 });
  await expect(gone).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringContaining("(ENOENT)") });
});
