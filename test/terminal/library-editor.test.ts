import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { renameDefinition } from "../../src/storage/files/edit-json-text.ts";
import { TerminalLibrary } from "../../src/storage/files/terminal-library.ts";
import { TerminalLibraryEditor } from "../../src/storage/files/terminal-library-editor.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { state, workflow } from "./terminal-world.ts";

const DEFINITION = workflow({ start: state() }, { name: "one", description: "The first" });

async function savedLibrary() {
  const dir = join(temporaryFolder(), "library");
  const library = new TerminalLibrary({ dir });
  const care = new TerminalLibraryEditor({ dir });
  await library.save(DEFINITION, { states: 1 });
  await library.save({ ...workflow({ other: state() }), name: "two" }, { states: 1 });
  const index = async () => JSON.parse(await readFile(join(dir, "index.json"), "utf8")) as { workflows: JsonObject };
  const files = async () => (await readdir(dir)).filter((file) => file.endsWith(".json")).sort();
  return { dir, library, care, index, files };
}

test("a removed workflow is neither on the disk nor in the index, and its name is free", async () => {
  const { library, care, index, files } = await savedLibrary();
  expect(await care.remove("one")).toBe(true);
  expect(await care.remove("one")).toBe(false);
  expect(Object.keys((await index()).workflows)).toEqual(["two"]);
  expect(await files()).toEqual(["index.json", "two.json"]);
  expect(await library.save(DEFINITION, { states: 1 })).toBe("one");
});

test("a renamed workflow keeps its place, its count and everything else as it is written", async () => {
  const { dir, library, care, index, files } = await savedLibrary();
  const file = join(dir, "one.json");
  const text = (await readFile(file, "utf8"))
    .replace('"start"', '"start" ')
    .replace('"success_count": 1', '"success_count": 7');
  await writeFile(file, text);
  expect(await care.rename("one", "first")).toBe(true);
  expect(await readFile(join(dir, "first.json"), "utf8")).toBe(text.replace('"name": "one"', '"name": "first"'));
  expect(await files()).toEqual(["first.json", "index.json", "two.json"]);
  const { workflows } = await index();
  expect(Object.keys(workflows)).toEqual(["first", "two"]);
  expect(workflows["first"]).toMatchObject({ file: "first.json", description: "The first" });
  expect(await library.load("first")).toEqual({ ...DEFINITION, name: "first" });
  expect(await care.rename("one", "again")).toBe(false);
});

test("a name that is taken or cannot be one is refused, and nothing changes", async () => {
  const { care, files } = await savedLibrary();
  for (const name of ["two", "TWO", "index", "../x", "a b", ""]) {
    await expect(care.rename("one", name)).rejects.toMatchObject({ code: "LIBRARY_NAME_REFUSED" });
  }
  expect(await files()).toEqual(["index.json", "one.json", "two.json"]);
});

test("a damaged file can be removed, and is not renamed", async () => {
  const { dir, care, files } = await savedLibrary();
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "one.json"), "{");
  await expect(care.rename("one", "first")).rejects.toMatchObject({ code: "LIBRARY_DAMAGED" });
  expect(await care.remove("one")).toBe(true);
  expect(await files()).toEqual(["index.json", "two.json"]);
});

test("of a saved text only the definition's own name is replaced", async () => {
  const text =
    '{"name": "no", "x": {"name": "no"}, "definition" : {"y": {"name": "no"}, "t": "name", "name" : "a\\"b", "n": 1.0}, "z": {"name": "no"}}';
  expect(await renameDefinition(text, "c")).toBe(text.replace('"a\\"b"', '"c"'));
  expect(await renameDefinition('{"definition": {"name": 1}}', "c")).toBeUndefined();
  expect(await renameDefinition('{"definition": [{"name": "a"}]}', "c")).toBeUndefined();
  const twice = '{"definition": {"name": "a", "name": "b"}}';
  expect(await renameDefinition(twice, "c")).toBe('{"definition": {"name": "a", "name": "c"}}');
});
