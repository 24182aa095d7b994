import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadDefinition } from "../../src/dialects/load-definition.ts";

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));

const definitions = readdirSync(DOCS)
  .filter((name) => name.endsWith(".md"))
  .flatMap((page) => {
    const blocks = readFileSync(`${DOCS}${page}`, "utf8").matchAll(/```json\n(.*?)```/gs);
    return [...blocks].flatMap(([, text = ""]) => (text.includes('"initial_state"') ? [{ page, text }] : []));
  });

test("the documentation shows terminal workflows", () => {
  expect(new Set(definitions.map(({ page }) => page))).toEqual(new Set(["terminal.md", "terminal-workflows.md"]));
});

test.each(definitions)("the terminal workflow in $page has no mistakes", async ({ page, text }) => {
  const { problems } = await loadDefinition({ text, file: page });
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
});
