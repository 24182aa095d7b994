import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const GREET = {
  name: "greet",
  description: "Says hello in a shell",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc" } },
      transitions: [{ condition: { success: true }, next_state: "say" }],
    },
    say: {
      action: { tool: "send_input", params: { session_id: "{session_id}", input_text: "echo hello {who}\n" } },
      transitions: [{ condition: { success: true }, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "hello \\w+", timeout: 30 } },
      transitions: [{ condition: { pattern_match: "hello {who}" }, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  },
};

test("`pawl run` runs a terminal workflow in a real terminal, and nothing of it is left", async () => {
  const cwd = application({ "greet.json": JSON.stringify(GREET) });
  const { code, stdout } = await pawl(["run", "greet.json", "-i", "who=Ada", "--json"], { cwd });
  const { data } = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(data).toMatchObject({ status: "completed", dialect: "terminal" });
  const wait = data.steps.find(({ step_id }: { step_id: string }) => step_id === "wait");
  expect(wait.output_data).toMatchObject({ success: true, match_text: "hello Ada" });
});

test("a session that a run has left open ends with the process", async () => {
  const { open } = GREET.states;
  const states = { open: { action: open.action } };
  const cwd = application({ "open.json": JSON.stringify({ ...GREET, states }) });
  expect(await pawl(["run", "open.json"], { cwd })).toMatchObject({ code: 0 });
});

test("saved workflows are listed, shown, renamed and removed", async () => {
  const file = { definition: GREET, metadata: { hash: "x", created: "2026-01-02T03:04:05+00:00", success_count: 3 } };
  const cwd = application({ ".terminal_control_workflows/greet.json": JSON.stringify(file) });
  const run = async (...args: string[]) => pawl(["workflows", ...args], { cwd });
  expect((await run("ls")).stdout).toMatch(/greet +3 .*Says hello in a shell/);
  expect(JSON.parse((await run("show", "greet")).stdout)).toEqual(GREET);
  expect(await run("rename", "greet", "hello")).toMatchObject({ code: 0 });
  expect(JSON.parse((await run("ls", "--json")).stdout).data.items).toMatchObject([
    { name: "hello", success_count: 3 },
  ]);
  expect(await run("rename", "hello", "../x")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("LIBRARY_NAME_REFUSED"),
  });
  expect(await run("rm", "hello")).toMatchObject({ code: 0 });
  expect(await run("rm", "hello")).toMatchObject({ code: 5 });
  expect((await run("ls")).stdout).toContain("No workflow is saved.");
});

test("a server lists, shows and removes saved workflows of terminals as this machine does", async () => {
  const cwd = application({ ".terminal_control_workflows/greet.json": JSON.stringify({ definition: GREET }) });
  const { url } = await startServer([], { cwd });
  for (const verb of [["ls"], ["ls", "--json"], ["show", "greet"], ["show", "greet", "--json"]]) {
    const here = await pawl(["workflows", ...verb], { cwd });
    expect(await pawl(["workflows", ...verb, "--url", url], { cwd })).toEqual(here);
    expect(here).toMatchObject({ code: 0, stdout: expect.stringContaining("greet") });
  }
  expect(await pawl(["workflows", "rm", "greet", "--url", url], { cwd })).toMatchObject({ code: 0 });
  expect((await pawl(["workflows", "ls"], { cwd })).stdout).toContain("No workflow is saved.");
});

test("definitions are saved, listed beside those of files, run by name, and removed", async () => {
  const gate = "name: gate\nsteps: [{ id: ask, type: approval, approval_config: { message: 'Go on?' } }]\n";
  const cwd = application({ "gate.yaml": gate, "workflows/greet.json": JSON.stringify(GREET) });
  const run = async (...args: string[]) => pawl(args, { cwd });
  expect((await run("workflows", "save", "gate.yaml")).stderr).toContain('Saved "gate" as version 1.');
  const { stdout } = await run("workflows", "ls");
  expect(stdout).toMatch(/gate +saved, version 1 +sandcastle/);
  expect(stdout).toMatch(/greet +workflows\/greet.json +terminal/);
  expect(await run("workflows", "show", "gate")).toMatchObject({ code: 0, stdout: gate });
  // Nothing is left but waiting for a person.
  expect(await run("run", "gate")).toMatchObject({ code: 6 });
  expect(await run("workflows", "versions", "gate")).toMatchObject({ stdout: expect.stringMatching(/^ +1 /m) });
  expect(await run("workflows", "rm", "gate")).toMatchObject({ code: 0 });
  expect(await run("workflows", "rm", "greet")).toMatchObject({ code: 3, stderr: expect.stringContaining("a file") });
});
