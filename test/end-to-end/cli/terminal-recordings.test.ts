import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const using = (tool: string, params: object, transitions: readonly object[] = []) => ({
  action: { tool, params },
  transitions,
});
const when = (condition: object, next_state: string) => ({ condition, next_state });

/** Waits for what never comes; where its session is lost it opens another one. */
const WAIT = {
  name: "wait",
  description: "Waits in a shell",
  initial_state: "open",
  states: {
    open: using("open_terminal", { shell: "bash --norc" }, [when({ success: true }, "say")]),
    say: using("send_input", { session_id: "{session_id}", input_text: "echo the mark\n" }, [
      when({ success: true }, "wait"),
    ]),
    wait: using("await_output", { session_id: "{session_id}", pattern: "never", timeout: 100 }, [
      when({ field_equals: { error_code: "SESSION_LOST" } }, "reopen"),
    ]),
    reopen: using("open_terminal", { shell: "bash --norc" }),
  },
};

async function artifactsOf(cwd: string, id: string): Promise<{ path: string; bytes: number }[]> {
  const { stdout } = await pawl(["runs", "show", id, "--json"], { cwd });
  return JSON.parse(stdout).data.artifacts;
}

test("recordings of a killed process are kept, the resumed run adds its own, and both are shown", async () => {
  const cwd = application({ "wait.json": JSON.stringify(WAIT) });
  const first = startPawl(["run", "wait.json"], { cwd });
  const id = await first.runId();
  await first.said("wait#1");
  first.kill("SIGKILL");
  await first.ended;
  expect(await artifactsOf(cwd, id)).toEqual([]);
  expect(await pawl(["runs", "resume", id], { cwd })).toMatchObject({ code: 0 });

  const artifacts = await artifactsOf(cwd, id);
  expect(artifacts).toHaveLength(2);
  const recordings = artifacts.map(({ path }) => readFileSync(join(cwd, ".pawl/storage", path), "utf8"));
  expect(recordings.filter((text) => text.includes("the mark"))).toHaveLength(1);
  const page = await pawl(["runs", "show", id], { cwd });
  for (const { path } of artifacts) expect(page.stdout).toContain(`artifact  ${path}`);
}, 60_000);
