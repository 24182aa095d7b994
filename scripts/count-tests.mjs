// Adds up Vitest's JSON reports: `node scripts/count-tests.mjs REPORT... [--other-failures N]` names what failed, with the
// start of its message, and prints "12 passed, 1 failed" as its last line. Plain JavaScript, so that the stock Node can
// count even when `npm ci` failed.
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const SHOWN_LINES = 15;

const args = process.argv.slice(2);
const flag = args.indexOf("--other-failures");
const otherFailures = flag === -1 ? 0 : Number(args.splice(flag, 2)[1]);

const files = args.flatMap((report) => JSON.parse(readFileSync(report, "utf8")).testResults);
const tests = files.flatMap((file) => file.assertionResults);
// A file that does not load has no tests of its own to fail.
const brokenFiles = files.filter((file) => file.status === "failed" && !file.assertionResults.some(hasFailed));

for (const file of files) {
  if (brokenFiles.includes(file)) show(file.name, file.message);
  for (const test of file.assertionResults.filter(hasFailed)) {
    show(`${file.name} > ${test.fullName}`, (test.failureMessages ?? []).join("\n"));
  }
}

const passed = tests.filter((test) => test.status === "passed").length;
const failed = tests.filter(hasFailed).length + brokenFiles.length;
console.log(`${passed} passed, ${failed + otherFailures} failed`);

function hasFailed(test) {
  return test.status === "failed";
}

function show(name, message = "") {
  const lines = stripVTControlCharacters(message).split("\n").slice(0, SHOWN_LINES);
  console.log([`--- failed: ${name}`, ...lines.map((line) => `    ${line}`)].join("\n"));
}
