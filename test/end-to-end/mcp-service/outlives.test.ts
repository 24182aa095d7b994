import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { ERAS, gone } from "../mcp-terminal/terminal-client.ts";
import { AT_ONCE, application } from "../support/application.ts";
import { connectService, endOwner } from "./service-client.ts";

/** Longer than a client waits, in a test's time. */
const SLOW = `
name: slow
steps:
  - id: answer
    prompt: First.
  - id: pause
    type: wait
    duration: 4s
    depends_on: [answer]
  - id: draft
    prompt: Then.
    depends_on: [pause]
`;

const FILES = {
  "workflows/slow.yaml": SLOW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

/** More by hand: `PAWL_OUTLIVES=20`. */
const TIMES = Number(process.env["PAWL_OUTLIVES"] ?? 3);

function ownerOf(folder: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, ".pawl", "lock.json"), "utf8")) as { readonly pid: number };
  return pid;
}

test.each(Array.from({ length: TIMES }, (_, index) => [index + 1, ERAS[index % ERAS.length]?.[1]] as const))(
  "a run outlives its client and its owner, and another client collects it (%i)",
  async (_, era) => {
    const folder = application(FILES);
    endOwner(folder);
    const first = await connectService(folder, era);
    let refused: unknown;
    first.call("slow").catch((error: unknown) => {
      refused = error;
    });
    const firstRun = async () => ((await first.call("list_runs"))["items"] as readonly JsonObject[])[0];
    const status = async () => refused ?? (await firstRun())?.["status"] ?? "none";
    await expect.poll(status, { timeout: 30_000, interval: 200 }).toMatch(/^(running|waiting)$/);
    const { run_id = null } = (await firstRun()) ?? {};
    const owner = ownerOf(folder);
    process.kill(first.pid, "SIGKILL");
    await gone(first.pid);
    process.kill(owner, "SIGKILL");
    await gone(owner);

    const second = await connectService(folder, era);
    const ended = async () => second.call("get_run_status", { run_id });
    await expect.poll(async () => (await ended())["status"], { timeout: 30_000, interval: 200 }).toBe("completed");
    expect(await ended()).toMatchObject({ outputs: { draft: "A draft." } });
    expect((await second.call("list_runs"))["items"]).toHaveLength(1);
  },
  120_000,
);
