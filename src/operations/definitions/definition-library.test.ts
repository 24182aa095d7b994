import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../../../test/end-to-end/support/application.ts";
import { DefinitionLibrary, type LibraryChange } from "./definition-library.ts";
import { findRegistered } from "./registry.ts";
import { DefinitionWatch } from "./watch-definitions.ts";

function workflow(name: string, prompt = "Hello."): string {
  return `name: ${name}\nsteps:\n  - id: answer\n    prompt: ${prompt}\n`;
}

const BROKEN = "name: one\nsteps:\n  - prompt: no id\n";

async function open(files: Readonly<Record<string, string>>) {
  const appDir = application(files);
  const library = new DefinitionLibrary({ appDir, maxSteps: 20 });
  return { appDir, library, first: await library.refresh(), file: (name: string) => join(appDir, "workflows", name) };
}

function graphOf(library: DefinitionLibrary, name: string) {
  return library.list().find((each) => each.name === name)?.report.definition?.graph;
}

test("what has not changed is not compiled again, also where it was touched", async () => {
  const { library, file } = await open({ "workflows/one.yaml": workflow("one") });
  const before = graphOf(library, "one");
  utimesSync(file("one.yaml"), new Date(), new Date(0));
  expect(await library.refresh()).toEqual({ hasChanged: false, broken: [], warnings: [] });
  expect(graphOf(library, "one")).toBe(before);
});

test("an edit is read, a new file found, a removed one forgotten", async () => {
  const { library, file } = await open({
    "workflows/one.yaml": workflow("one"),
    "workflows/two.yaml": workflow("two"),
  });
  writeFileSync(file("one.yaml"), workflow("uno"));
  writeFileSync(file("three.yaml"), workflow("three"));
  rmSync(file("two.yaml"));
  expect((await library.refresh()).hasChanged).toBe(true);
  expect(library.list().map(({ name }) => name)).toEqual(["uno", "three"]);
});

test("a broken edit is told once, and the last good version stays", async () => {
  const { library, file } = await open({ "workflows/one.yaml": workflow("one") });
  const before = graphOf(library, "one");
  writeFileSync(file("one.yaml"), BROKEN);
  const { broken, hasChanged } = await library.refresh();
  expect(hasChanged).toBe(false);
  expect(broken).toMatchObject([{ file: file("one.yaml"), hasGoodVersion: true, problems: [{ code: "KEY_MISSING" }] }]);
  expect(graphOf(library, "one")).toBe(before);
  expect(await library.refresh()).toEqual({ hasChanged: false, broken: [], warnings: [] });
  writeFileSync(file("one.yaml"), workflow("one", "Hello again."));
  expect(await library.refresh()).toMatchObject({ hasChanged: true, broken: [] });
  expect(graphOf(library, "one")).not.toBe(before);
});

test("what is broken from the start is told, and is nothing that can be run", async () => {
  const { library, first } = await open({ "workflows/one.yaml": BROKEN });
  expect(first.broken).toMatchObject([{ hasGoodVersion: false }]);
  expect(library.list()).toMatchObject([{ name: "one", report: { problems: [{ code: "KEY_MISSING" }] } }]);
});

test("a name is found in it without reading anything", async () => {
  const { library, appDir, file } = await open({ "workflows/one.yaml": workflow("one") });
  rmSync(file("one.yaml"));
  expect(await findRegistered({ appDir, library }, "one")).toMatchObject({ name: "one" });
});

test("a watch sees edits in place, by renaming, in new folders, and of a folder that comes later", async () => {
  const appDir = application({});
  const library = new DefinitionLibrary({ appDir, maxSteps: 20 });
  await library.refresh();
  const changes: LibraryChange[] = [];
  const watch = new DefinitionWatch({
    appDir,
    library,
    changed: (change) => changes.push(change),
    failed: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => watch.close());
  await watch.start();
  const names = () => library.list().map(({ name }) => name);
  const soon = { timeout: 20_000 };

  mkdirSync(join(appDir, "workflows/deep"), { recursive: true });
  writeFileSync(join(appDir, "workflows/deep/one.yaml"), workflow("one"));
  await expect.poll(names, soon).toEqual(["one"]);

  writeFileSync(join(appDir, "workflows/deep/one.yaml"), workflow("two"));
  await expect.poll(names, soon).toEqual(["two"]);

  writeFileSync(join(appDir, "workflows/deep/.one.yaml.swp"), workflow("three"));
  renameSync(join(appDir, "workflows/deep/.one.yaml.swp"), join(appDir, "workflows/deep/one.yaml"));
  await expect.poll(names, soon).toEqual(["three"]);

  rmSync(join(appDir, "workflows"), { recursive: true });
  await expect.poll(names, soon).toEqual([]);
  mkdirSync(join(appDir, "workflows"));
  writeFileSync(join(appDir, "workflows/four.yaml"), workflow("four"));
  await expect.poll(names, soon).toEqual(["four"]);
  expect(changes.every(({ hasChanged }) => hasChanged)).toBe(true);
});
