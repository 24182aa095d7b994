import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PawlOptions, type PawlResult, pawl, type RunningPawl, startPawl } from "../../end-to-end/support/pawl.ts";

/** An application with one workflow that has every kind of step. */
const EVERY_STEP = fileURLToPath(new URL("../../fixtures/apps/every-step", import.meta.url));

/** A call of a tool, as the application's own MCP server wrote it down. */
export interface LedgerCall {
  readonly tool: string;
  readonly what: string;
  readonly key: string;
}

export function startRun(dataDir: string): RunningPawl {
  return startPawl(["run", "every_step", "--input", "input.json", "--data", dataDir], optionsFor(dataDir));
}

export function resumeAll(dataDir: string): RunningPawl {
  return startPawl(["runs", "resume", "--all", "--data", dataDir], optionsFor(dataDir));
}

export function showRun(dataDir: string, runId: string): Promise<PawlResult> {
  return pawl(["runs", "show", runId, "--json", "--data", dataDir], optionsFor(dataDir));
}

export function optionsFor(dataDir: string): PawlOptions {
  return { cwd: EVERY_STEP, env: { LEDGER_FILE: ledgerFile(dataDir), PAWL_DATA__DURABILITY: "process" } };
}

export function readApplicationFile(name: string): string {
  return readFileSync(join(EVERY_STEP, name), "utf8");
}

export function readLedger(dataDir: string): readonly LedgerCall[] {
  try {
    const lines = readFileSync(ledgerFile(dataDir), "utf8").split("\n");
    // A death while writing leaves half a line at most: that call had not begun.
    return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as LedgerCall);
  } catch {
    return [];
  }
}

function ledgerFile(dataDir: string): string {
  return join(dataDir, "ledger.jsonl");
}
