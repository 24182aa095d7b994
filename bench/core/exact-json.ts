import { performance } from "node:perf_hooks";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";

/** What exact integers cost the reading of 1 MB of JSON, against the engine's own parser: medians of interleaved rounds. */
const ROUNDS = 201;
const ALLOWED_RATIO = 1.2;

const RECORDS = Array.from({ length: 6_500 }, (_, id) => ({
  id,
  name: `Company ${id}`,
  email: `user${id}@example.com`,
  score: id * 1.5,
  tags: ["a", "b", "c"],
  text: "Lorem ipsum dolor sit amet, consectetur adipiscing elit",
}));

const CASES = [
  { name: "records without long digits", text: JSON.stringify(RECORDS), isCommon: true },
  {
    name: "integers of six digits alone",
    text: JSON.stringify(Array.from({ length: 145_000 }, (_, n) => (n * 7_919) % 999_983)),
  },
  { name: "fractions of 17 digits alone", text: JSON.stringify(Array.from({ length: 52_000 }, (_, n) => Math.sin(n))) },
  {
    name: "integers of 19 digits alone",
    text: writeExact(Array.from({ length: 52_000 }, (_, n) => 2n ** 62n + BigInt(n))),
  },
];

CASES.splice(1, 0, {
  name: "records with ids of 19 digits",
  text: writeExact(RECORDS.map((record) => ({ ...record, id: 2n ** 62n + BigInt(record.id) }))),
});

console.log("1 MB of                        JSON.parse ms   exact ms   ratio");
for (const { name, text, isCommon } of CASES) {
  const [plain, exact] = measure(text);
  const ratio = exact / plain;
  console.log(
    `${name.padEnd(30)} ${plain.toFixed(2).padStart(13)} ${exact.toFixed(2).padStart(10)} ${ratio.toFixed(2).padStart(7)}`,
  );
  if (isCommon === true && ratio > ALLOWED_RATIO) process.exitCode = 1;
}

function measure(text: string): readonly [number, number] {
  const [plain, exact]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(time(() => JSON.parse(text)));
    exact.push(time(() => parseExact(text)));
  }
  return [median(plain), median(exact)];
}

function time(act: () => unknown): number {
  const before = performance.now();
  act();
  return performance.now() - before;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
