// npm run adversary -- --seed N --minutes M, or --self-test: attacks a real `pawl serve` from outside, and looks at what has come of it.
import { parseArgs } from "node:util";
import { DEFECTS } from "./defects.ts";
import { attackOnce, PART_NAMES, type Part } from "./rounds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    minutes: { type: "string", default: "5" },
    count: { type: "string" },
    part: { type: "string", multiple: true },
    "self-test": { type: "boolean", default: false },
  },
});

const seed = Number(values.seed);
const count = values.count === undefined ? undefined : Number(values.count);
const minutes = Number(values.minutes);
const parts = (values.part ?? PART_NAMES) as Part[];
const unknown = parts.find((part) => !PART_NAMES.includes(part));
if (!Number.isInteger(seed) || !(minutes > 0) || unknown !== undefined) {
  process.stderr.write(
    `usage: adversary --seed N --minutes M [--count N] [--part ${PART_NAMES.join("|")}] [--self-test]\n`,
  );
  process.exit(2);
}
process.exit(values["self-test"] ? await selfTest() : await attack());

/** Each part in turn, with one seed after the other, until the time is over. Every part is done once at least. */
async function attack(): Promise<number> {
  const until = Date.now() + (count === undefined ? minutes * 60_000 : 0);
  let found = 0;
  for (let round = 0; round === 0 || Date.now() < until; round += 1) {
    for (const part of parts) {
      if (round > 0 && Date.now() >= until) break;
      const { told, violations } = await attackOnce(part, { seed: seed + round, isWhole: true, count, tell: print });
      found += violations.length;
      print(`${violations.length === 0 ? "ok  " : "FAIL"} ${part}: ${told}`);
      for (const { kind, detail } of violations.slice(0, 20)) print(`     ${kind}: ${detail}`);
    }
  }
  print(`${found} violations, seed ${seed}`);
  return found === 0 ? 0 : 1;
}

/** Each defect that is built into the server on purpose must be found by its part. */
async function selfTest(): Promise<number> {
  let missed = 0;
  for (const [defect, { part, kind }] of Object.entries(DEFECTS)) {
    const { violations } = await attackOnce(part, { seed, isWhole: false, defect });
    const caught = violations.find((violation) => violation.kind === kind);
    if (caught === undefined) missed += 1;
    print(
      `${caught === undefined ? "MISSED" : "caught"} ${defect} by ${part}${caught === undefined ? "" : `: ${caught.kind}: ${caught.detail.slice(0, 120)}`}`,
    );
  }
  print(`${missed} of ${Object.keys(DEFECTS).length} defects missed`);
  return missed === 0 ? 0 : 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
