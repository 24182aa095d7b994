import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Graph } from "../../core/graph/graph.ts";
import { foldersOf } from "./definition-files.ts";
import { pinFiles } from "./pin-files.ts";

const GRAPH: Graph = {
  format: 1,
  dialect: "uhlp",
  name: "w",
  input: { declared: [], defaults: {} },
  flow: { kind: "machine", start: "a", steps: [{ kind: "set", id: "a" }] },
  limits: {},
  ending: { deadLetter: true },
  envAllowed: [],
  settings: {},
};

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-pin-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "app", "scripts"), { recursive: true });
  writeFileSync(join(folder, "app", "scripts", "a.py"), "def f(input): return 1\n");
  writeFileSync(join(folder, "secret.py"), "SECRET = 1\n");
  return folder;
}

function script(path: string) {
  return { kind: "script" as const, path, at: { line: 3, column: 5 } };
}

function pin(folder: string, ...paths: string[]) {
  return pinFiles(GRAPH, { text: "a\nb\nc\n", files: paths.map(script), folders: [join(folder, "app")] });
}

test("a script's text is pinned with the graph, and the folder where its neighbours are", async () => {
  const folder = newFolder();
  const { graph, problems } = await pin(folder, "scripts/a.py");
  expect(problems).toEqual([]);
  expect(graph?.settings).toEqual({
    folder: join(folder, "app"),
    scripts: { "scripts/a.py": "def f(input): return 1\n" },
  });
});

test("a file that is missing is a problem at the step that names it", async () => {
  const { graph, problems } = await pin(newFolder(), "scripts/b.py");
  expect(graph).toBeUndefined();
  expect(problems).toMatchObject([{ code: "FILE_NOT_FOUND", place: { line: 3, column: 5 } }]);
});

test.each(["../secret.py", "scripts/../../secret.py", "/etc/passwd"])("%s leads out of the folder", async (path) => {
  const { problems } = await pin(newFolder(), path);
  expect(problems).toMatchObject([{ code: "FILE_OUTSIDE" }]);
});

test("a link that leads out of the folder is not followed", async () => {
  const folder = newFolder();
  symlinkSync(join(folder, "secret.py"), join(folder, "app", "scripts", "link.py"));
  const { problems } = await pin(folder, "scripts/link.py");
  expect(problems).toMatchObject([{ code: "FILE_OUTSIDE" }]);
});

test.each([".env", "scripts/.secret.py", "./.env"])("%s is hidden and not pinned", async (path) => {
  const folder = newFolder();
  writeFileSync(join(folder, "app", ".env"), "SECRET=1\n");
  const { problems } = await pin(folder, path);
  expect(problems).toMatchObject([{ code: "FILE_OUTSIDE" }]);
});

test("a file that is not UTF-8 is refused rather than altered", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "app", "latin.py"), Buffer.from([0x23, 0xe9, 0x0a]));
  const { problems } = await pin(folder, "latin.py");
  expect(problems).toMatchObject([{ code: "FILE_NOT_TEXT" }]);
});

test("a text without an application has no files", async () => {
  const { problems } = await pinFiles(GRAPH, { text: "", files: [script("a.py")], folders: [] });
  expect(problems).toMatchObject([{ code: "FILE_NOT_FOUND" }]);
});

test("files are looked for in the application, around workflows/, and beside the definition", () => {
  expect(foldersOf("/x/shop/workflows/orders/new.yaml", "/home")).toEqual([
    "/home",
    "/x/shop",
    "/x/shop/workflows/orders",
  ]);
  expect(foldersOf("/x/flow.yaml", "/x")).toEqual(["/x"]);
});

test("a name that a prompt reads and its step does not give is a problem at the step: an error where it is misspelt", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "app", "rate.yaml"), "template: |\n  Rate {{ title }}\n  {{ tikcet }}\n");
  const file = { kind: "prompt" as const, path: "rate.yaml", at: { line: 2, column: 1 }, names: ["title", "ticket"] };
  const wanted = { text: "a\nb\n", files: [file, file], folders: [join(folder, "app")] };
  const strict = await pinFiles(GRAPH, wanted);
  expect(strict.graph).toBeUndefined();
  expect(strict.problems).toMatchObject([{ code: "PROMPT_NAME_UNFILLED", severity: "error" }]);
  const { graph, problems } = await pinFiles(GRAPH, { ...wanted, isLenient: true });
  expect(graph?.settings["prompts"]).toHaveProperty(["rate.yaml"]);
  expect(problems).toMatchObject([
    {
      code: "PROMPT_NAME_UNFILLED",
      severity: "warning",
      place: { line: 2 },
      remedy: expect.stringContaining("`ticket`"),
    },
  ]);
});
