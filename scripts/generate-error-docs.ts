// Writes docs/errors.md from the table of errors. `--check` only says whether it is up to date.
import { readFile, writeFile } from "node:fs/promises";
import { ERRORS } from "../src/core/errors/error-table.ts";

const path = new URL("../docs/errors.md", import.meta.url);
const text = renderErrorDocs();

if (!process.argv.includes("--check")) await writeFile(path, text);
else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
  console.error("docs/errors.md is not up to date: run `node scripts/generate-error-docs.ts`.");
  process.exitCode = 1;
}

function renderErrorDocs(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { meaning, remedy, exitCode }]) => `| \`${code}\` | ${cell(meaning)} | ${cell(remedy)} | ${exitCode} |`,
  );
  return `# Errors

<!-- Made by scripts/generate-error-docs.ts from src/core/errors/error-table.ts. Do not edit. -->

Every error has a code, which is stable, a message, which says what happened where, and a remedy. They are the same on the
command line, in JSON (\`{"code", "message", "remedy"}\`) and over HTTP. A failed step may also carry a code of an outside
program that is not listed here.

| code | what it means | what to do | exit code |
|---|---|---|---|
${rows.join("\n")}
`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
