import { expect, test } from "vitest";
import { findMissingFunction } from "./find-missing-function.ts";

const PYTHON = "import json\n\nasync def check(order):\n    return order\n\nclass Box:\n    pass\n\nlimit = 3\n";
const JAVASCRIPT = "export function check(order) { return order; }\nconst one = 1;\nexport { one };\n";

test.each([
  ["python", PYTHON, "chekc", "Did you mean `check`?"],
  ["python", PYTHON, "somewhere", "It has `check`, `Box`."],
  ["javascript", JAVASCRIPT, "chek", "Did you mean `check`?"],
  ["typescript", JAVASCRIPT, "chek.deep", "It has `check`."],
  ["javascript", "console.log(1);\n", "check", undefined],
] as const)("a %s script %j has no %s", (language, text, name, remedy) => {
  expect(findMissingFunction({ language, name }, text)).toEqual({ remedy });
});

test.each([
  ["python", PYTHON, "check"],
  ["python", PYTHON, "Box"],
  ["python", PYTHON, "limit"],
  ["python", "from lib import *\n", "check"],
  ["python", "from lib import check\n", "check"],
  ["python", "import sys\nif sys.argv[1] == 'x': pass\n", "check"],
  ["python", "import sys\nprint(sys.stdin.read())\n", "check"],
  ["python", "globals()['che' + 'ck'] = len\n", "check"],
  ["javascript", JAVASCRIPT, "one"],
  ["javascript", "export * from './lib.mjs';\n", "check"],
  ["typescript", "import lib from './lib.ts';\nexport = lib;\n", "check"],
  ["javascript", "module.exports = require('./lib');\n", "check"],
  ["javascript", "module.exports = { ...require('./lib') };\n", "check"],
  ["javascript", "exports['che' + 'ck'] = () => 1;\n", "check"],
  ["javascript", "console.log(process.argv[2]);\n", "check"],
] as const)("nobody can tell that a %s script %j has no %s", (language, text, name) => {
  expect(findMissingFunction({ language, name }, text)).toBeUndefined();
});
