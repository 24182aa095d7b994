import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { ROOT } from "../support/fixtures.ts";

const FILE = `${ROOT}test/fixtures/typescript/mistakes.ts`;

/** What a line says that it is told: `//! TS2339 some words of the message`. A second code is that of TypeScript 7, for `test/long/package.test.ts`. */
function wantedOf(text: string): ReadonlyMap<number, readonly [code: number, words: string]> {
  const lines = text.split("\n").map((line) => /\/\/! TS(\d+)(?:\|\d+)? (.*)$/.exec(line));
  return new Map(
    lines.flatMap((found, index) => (found === null ? [] : [[index + 1, [Number(found[1]), found[2] ?? ""]] as const])),
  );
}

test("the compiler finds the mistakes of a definition, in words that name them, and nothing in one that is right", () => {
  const program = ts.createProgram([FILE], {
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    types: ["node"],
  });
  const source = program.getSourceFile(FILE);
  const told = new Map<number, { readonly code: number; readonly message: string }[]>();
  for (const { code, start = 0, messageText } of ts.getPreEmitDiagnostics(program, source)) {
    const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    told.set(line, [...(told.get(line) ?? []), { code, message: ts.flattenDiagnosticMessageText(messageText, "\n") }]);
  }
  const wanted = wantedOf(readFileSync(FILE, "utf8"));
  expect(wanted.size).toBeGreaterThan(30);
  expect([...told.keys()].sort((a, b) => a - b)).toEqual([...wanted.keys()]);
  for (const [line, [code, words]] of wanted) {
    expect(told.get(line), `line ${line}`).toContainEqual({ code, message: expect.stringContaining(words) });
  }
});
