import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";

const STEPS = 20;
const REPLY = "x".repeat(8_000);

const MANY = `name: many\nsteps:\n${Array.from({ length: STEPS }, (_, index) => {
  const after = index === 0 ? "" : `, depends_on: [s${index - 1}]`;
  return `  - {id: s${index}, prompt: Go on.${after}}`;
}).join("\n")}\n`;

const LONG_REPLIES = `steps:\n${Array.from({ length: STEPS }, (_, index) => {
  return `  s${index}: {reply: "${REPLY}", delay_ms: 0}`;
}).join("\n")}\n`;

/** Files may grow to 700 KiB: enough to begin, not enough to finish. */
const LIMITED = "trap '' XFSZ; ulimit -f 1400; exec \"$@\"";

test.runIf(process.platform === "linux")(
  "with a full disk the run stops with the typed error, and is resumed when there is room",
  async () => {
    const cwd = application({ "many.yaml": MANY, "long.yaml": LONG_REPLIES });
    const { command, env } = pawlCommand(["run", "many.yaml", "--agent", "simulated:long.yaml"]);

    const limited = spawnSync("sh", ["-c", LIMITED, "sh", ...command], { cwd, env, encoding: "utf8" });
    expect(limited.stderr).toMatch(/error JOURNAL_(FULL|IO)/);
    expect(limited.status).toBe(1);

    const { stdout } = await pawl(["runs", "resume", "--all", "--json"], { cwd });
    expect(JSON.parse(stdout).data.items).toMatchObject([{ workflow_name: "many", status: "completed" }]);
  },
);
