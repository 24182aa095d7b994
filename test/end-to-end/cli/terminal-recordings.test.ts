import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { endTmuxServers } from "../terminals/open-terminals.ts";

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
  const recordings = await Promise.all(artifacts.map(({ path }) => pawl(["storage", "get", path], { cwd })));
  expect(recordings.filter(({ stdout }) => stdout.includes("the mark"))).toHaveLength(1);
  const page = await pawl(["runs", "show", id], { cwd });
  for (const { path } of artifacts) expect(page.stdout).toContain(`artifact  ${path}`);
});

/** Sets a variable, waits for a file, and asks the same shell for the variable. */
const KEEP = {
  name: "keep",
  description: "Goes on in the same shell",
  initial_state: "open",
  states: {
    open: using("open_terminal", { shell: "bash --norc" }, [when({ success: true }, "set")]),
    set: using(
      "send_input",
      { session_id: "{session_id}", input_text: "mark=kept; until [ -e go ]; do sleep 0.1; done; echo went on\n" },
      [when({ success: true }, "wait")],
    ),
    wait: using("await_output", { session_id: "{session_id}", pattern: "went on", timeout: 100 }, [
      when({ pattern_match: "went on" }, "ask"),
    ]),
    ask: using("send_input", { session_id: "{session_id}", input_text: "echo it is $mark\n" }, [
      when({ success: true }, "hear"),
    ]),
    hear: using("await_output", { session_id: "{session_id}", pattern: "it is kept", timeout: 20 }, [
      when({ pattern_match: "it is kept" }, "close"),
    ]),
    close: using("exit_terminal", { session_id: "{session_id}" }),
  },
};

test("with tmux a run goes on after a kill in the same shell, recorded in two parts, and closes it", async () => {
  needs("tmux");
  const cwd = application({
    "keep.json": JSON.stringify(KEEP),
    "pawl.yaml": "terminal: {backend: tmux}",
  });
  onTestFinished(() => endTmuxServers(join(cwd, ".pawl/terminals")));
  const first = startPawl(["run", "keep.json"], { cwd });
  const id = await first.runId();
  await first.said("wait#1");
  first.kill("SIGKILL");
  await first.ended;
  writeFileSync(join(cwd, "go"), "");
  expect(await pawl(["runs", "resume", id], { cwd })).toMatchObject({ code: 0 });

  const paths = (await artifactsOf(cwd, id)).map(({ path }) => path);
  expect(paths).toHaveLength(2);
  expect(paths[0]).toBe(paths[1]?.replace(/\.cast$/, "-2.cast"));
  expect(readdirSync(join(cwd, ".pawl/terminals"))).toEqual([]);
});

test("without tmux its absence is named", async () => {
  const cwd = application({ "keep.json": JSON.stringify(KEEP), "pawl.yaml": "terminal: {backend: tmux}" });
  const { code, stderr } = await pawl(["run", "keep.json"], { cwd, env: { PATH: "/nonexistent" } });
  expect(code).toBe(2);
  expect(stderr).toContain("TERMINAL_BACKEND_MISSING");
});
