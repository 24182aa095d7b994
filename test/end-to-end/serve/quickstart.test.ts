import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../contracts/temporary-folder.ts";

const SCRIPT = fileURLToPath(new URL("../../../examples/quickstart.sh", import.meta.url));
/** The sources, so that what is tested is not what was last built. */
const MAIN = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

test("the quickstart shows the service from the first request to its stop, and leaves nothing behind", async () => {
  const home = temporaryFolder();
  const folder = join(home, "tmp");
  mkdirSync(folder);
  writeFileSync(join(home, "fast.yaml"), "delay_ms: 50\n");
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    TMPDIR: folder,
    PAWL_MAIN: MAIN,
    PAWL_AGENT__PROVIDER: `simulated:${join(home, "fast.yaml")}`,
  };
  const { stdout, stderr } = await promisify(execFile)("bash", [SCRIPT], { env });

  expect(stderr).toBe("");
  for (const told of [
    /^it listens on 127\.0\.0\.1:\d+$/m,
    /"status":"ok".*"db":"ok"/,
    /^sent again, it is the same run$/m,
    /^cut off after the event \d+\.\d+$/m,
    // A beginning and an end of each step, the result and the end, as if nothing had been cut off.
    /^32 events, 0 of them twice$/m,
    /^msg_\w+: workflow\.completed, completed, 0\.\d+ USD$/m,
    /^the signature is right$/m,
    /^May this go out to Birchwater\?$/m,
    /^"gate" was already answered by \S+: approve\.$/m,
    /^the run is completed$/m,
    /^ {2}lead-enrichment: 2 runs, 0\.\d+ USD/m,
    /^stopped$/m,
  ]) {
    expect(stdout).toMatch(told);
  }
  const scored = [...stdout.matchAll(/^ {2}(scrape|enrich|score)\[\d\] +completed/gm)];
  expect(scored).toHaveLength(15);
  const [whole = 0, again = 0] = [...stdout.matchAll(/^[0-9a-f-]{36} (\S+) USD$/gm)].map(([, usd]) => Number(usd));
  expect(again).toBeGreaterThan(0);
  expect(again).toBeLessThan(whole);

  expect(readdirSync(folder)).toEqual([]);
  const [, receiver] = /^it listens on (\S+)$/m.exec(stdout) ?? [];
  await expect(fetch(`http://${String(receiver)}/`)).rejects.toThrow();
  // The whole script, with two servers and some forty requests and commands.
});
