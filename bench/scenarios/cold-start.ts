import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Comparison, compare } from "../support/compare.ts";

const BIN = fileURLToPath(new URL("../../bin/pawl.cjs", import.meta.url));

const WORKFLOW = `name: two-steps
steps:
  - id: first
    prompt: Say {input.word}.
  - id: second
    depends_on: [first]
    prompt: "Repeat: {steps.first.output}"
`;

const SCRIPT = `delay_ms: 0
steps:
  first: { reply: one }
  second: { reply: two }
`;

/** `pawl run` of two simulated steps without delays, the whole process, against a bare node. */
export async function benchColdStart(rounds: number): Promise<Comparison[]> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-cold-"));
  writeFileSync(join(folder, "two.yaml"), WORKFLOW);
  writeFileSync(join(folder, "script.yaml"), SCRIPT);
  const args = [BIN, "run", "two.yaml", "-i", "word=hi", "--agent", "simulated:script.yaml", "--json"];
  const comparison = await compare({
    name: "pawl run of two simulated steps, whole process",
    floorName: "node -e 0",
    rounds: rounds * 2,
    floor: () => timeProcess(["-e", "0"], folder),
    ours: () => timeProcess(args, folder),
  });
  rmSync(folder, { recursive: true });
  return [{ ...comparison, note: `limit 300 ms: ${comparison.oursMs < 300 ? "met" : "missed"}` }];
}

function timeProcess(args: readonly string[], cwd: string): number {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - startedAt;
}
