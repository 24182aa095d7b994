import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const CLIENT = fileOf("../fakes/asking-client/main.ts");

/** Those in which a server asks its client for something, and the plain call. */
const SCENARIOS = [
  ["conformance-2025", "tools_call", "1/1"],
  ["conformance-2025", "elicitation-sep1034-client-defaults", "5/5"],
  ["conformance-2026", "tools_call", "2/2"],
  ["conformance-2026", "elicitation-sep1034-client-defaults", "5/5"],
  ["conformance-2026", "sep-2322-client-request-state", "5/5"],
] as const;

test.each(SCENARIOS)("our client passes %s of the official runner in %s", async (runner, scenario, checks) => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const main = fileOf(`node_modules/${runner}/dist/index.js`);
  const command = ["--command", `${process.execPath} ${CLIENT}`, "--timeout", "200000", "--scenario", scenario];
  const ended = promisify(execFile)(process.execPath, [main, "client", ...command], { cwd: folder });
  const { stdout, stderr } = (await ended.catch((error: unknown) => error)) as { stdout: string; stderr: string };
  expect(stdout + stderr).toContain(`Passed: ${checks}, 0 failed`);
  expect(stdout + stderr).toContain("OVERALL: PASSED");
});

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
