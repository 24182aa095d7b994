import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { layOutTerminalExamples } from "../../src/operations/templates/lay-out-examples.ts";
import { layOutTemplate, listTemplates } from "../../src/operations/templates/template-folders.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Definitions of every dialect and tests of them, prompt files, and scripts of simulated agents. */
const PLACES = [
  "examples/*-enrichment.yaml",
  "examples/uhlp/*.yaml",
  "examples/terminal/*.json",
  "examples/*/agents.json",
  "examples/*.script.yaml",
  "examples/tests/*.yaml",
  "{examples,templates}/*/mock-model.yaml",
  "{examples,templates}/*/workflows/*.{yaml,json}",
  "{examples,templates}/*/prompts/*.yaml",
  "templates/*/agents.json",
];

const files = globSync(PLACES, { cwd: ROOT }).sort();

test("there are examples and templates of every dialect", () => {
  const schemas = new Set(files.map((file) => schemaOf(join(ROOT, file))));
  expect([...schemas].sort()).toEqual(
    globSync("schemas/*.json", { cwd: ROOT })
      .map((file) => join(ROOT, file))
      .sort(),
  );
});

/** To compile a schema takes longer than everything else here. */
const validators = new Map(
  globSync(join(ROOT, "schemas/*.json")).map((path) => [
    path,
    new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(readFileSync(path, "utf8"), asDouble)),
  ]),
);

test.each(files)("%s names its schema, which accepts it", async (file) => {
  const path = join(ROOT, file);
  const validate = validators.get(schemaOf(path) ?? "") ?? expect.fail(`${file} names no schema.`);
  validate(parse(readFileSync(path, "utf8")));
  expect(validate.errors).toBeNull();
  if (/\/prompts\/|script|mock-model|[.]test[.]/.test(file)) return;
  const { problems } = await loadDefinition({ text: readFileSync(path, "utf8"), file: path });
  expect(problems.map(({ message }) => message).filter((message) => message.includes("$schema"))).toEqual([]);
});

const templates = await listTemplates();

test.each(["terminal", ...templates.map(({ name }) => name)])(
  "what `pawl init %s` writes names a schema that is there",
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "pawl-init-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await (name === "terminal" ? layOutTerminalExamples(folder) : layOutTemplate(name, folder));
    const written = globSync(["*.json", "agents.json", "workflows/*", "prompts/*"], { cwd: folder })
      .filter((file) => !file.endsWith(".input.json"))
      .map((file) => join(folder, file));
    expect(written.map((file) => [file, existsSync(schemaOf(file) ?? "")])).toEqual(
      written.map((file) => [file, true]),
    );
  },
);

/** The path of the schema that a file names for its editor. */
function schemaOf(path: string): string | undefined {
  const [first = "", second = ""] = readFileSync(path, "utf8").split("\n");
  const [, written] =
    /^# yaml-language-server: \$schema=(\S+)$/.exec(first) ?? /^ {2}"\$schema": "(\S+)",$/.exec(second) ?? [];
  return written === undefined ? undefined : resolve(dirname(path), written);
}

/** Ajv knows no bigint, which is what a bound beyond 2^53 is here. */
function asDouble(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
