// Adds up Vitest's JSON reports: `node scripts/count-tests.mjs REPORT... [--other-failures N]` names what failed, with the
// start of its message, and prints "12 passed, 1 failed" as its last line. `--died REPORT` names the files that ended without a
// failed test; where `NAME-again.json` has them too, only that counts. Plain JavaScript, so that the stock Node can
// count even when `npm ci` failed.
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const SHOWN_LINES = 15;

const args = process.argv.slice(2);
const flag = args.indexOf("--other-failures");
const otherFailures = flag === -1 ? 0 : Number(args.splice(flag, 2)[1]);

const isDied = (file) => file.status === "failed" && !file.assertionResults.some(hasFailed);
const read = (report) => JSON.parse(readFileSync(report, "utf8")).testResults;

if (args[0] === "--died") {
  for (const { name } of read(args[1]).filter(isDied)) console.log(name);
  process.exit();
}

const again = new Map(args.map((report) => [report, read(report).map(({ name }) => name)]));
const isRepeated = (report, file) =>
  isDied(file) && again.get(report.replace(".json", "-again.json"))?.includes(file.name);
const files = args.flatMap((report) => read(report).filter((file) => !isRepeated(report, file)));
const tests = files.flatMap((file) => file.assertionResults);
// A file that does not load has no tests of its own to fail.
const brokenFiles = files.filter(isDied);

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
