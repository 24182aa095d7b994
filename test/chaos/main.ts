import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findTool } from "../support/needs.ts";
import { runChaos } from "./chaos.ts";
import { FAULT_KINDS } from "./faults/fault-plan.ts";
import { toTable } from "./report.ts";

/** `npm run chaos -- [--minutes 10] [--seed 1] [--faults none|KIND,KIND...] [--json]`. Exit code 1: something was violated. */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: "all" },
    runs: { type: "string", default: "4" },
    small: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const wanted = values.faults.split(",");
const known = FAULT_KINDS.filter((kind) => !kind.startsWith("redis") || findTool("redis-server") !== undefined);
const folder = mkdtempSync(join(tmpdir(), "pawl-chaos-"));

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const kinds = values.faults === "all" ? known : known.filter((kind) => wanted.includes(kind));

const report = await runChaos({
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  runsPerSecond: Number(values.runs),
  kinds,
  counts: values.small ? { api: 1, scheduler: 1, worker: 2 } : { api: 2, scheduler: 2, worker: 3 },
  leaseMs: values.small ? 3_000 : 8_000,
  folder,
  told: (line) => console.error(line),
});
console.log(values.json ? JSON.stringify(report, undefined, 2) : toTable(report));
if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true });
else console.error(`Everything that was seen is in ${folder}.`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
