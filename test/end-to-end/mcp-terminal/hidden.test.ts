import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { connectTerminal } from "./terminal-client.ts";

/** The files below a folder in which a text stands. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

const READ = "read -s -p 'Password: ' PW; echo; echo -n \"$PW\" | wc -c | sed 's/^/got /'\n";

/** What asks, and what it shows then. */
const PROMPTS = {
  "bash's read -s": [READ, "Password: "],
  "a program that asks for nothing in words": ["stty -echo; head -n 1 | wc -c | sed 's/^/got /'; stty echo\n", ""],
  "Python's getpass": ['python3 -c \'import getpass; print("got", len(getpass.getpass("\\x3e\\x3e ")))\'\n', ">> $"],
} as const;

for (const backend of ["pty", "tmux"] as const) {
  for (const [name, [command, question]] of Object.entries(PROMPTS)) {
    test(`what is typed at ${name} in a terminal of ${backend} is in no answer and in no file`, async () => {
      needs("python3", ...(backend === "tmux" ? (["tmux"] as const) : []));
      const secret = "Zebra-4711-quux";
      const folder = application({});
      const env = {
        MCP_AUDIT_LOG_PATH: join(folder, "audit.log"),
        PAWL_TERMINAL_BACKEND: backend,
        PAWL_TERMINAL_RECORD_SESSIONS: "true",
      };
      const { call, client } = await connectTerminal(folder, { env });
      const { session_id = null } = await call("open_terminal", { shell: "bash --norc" });
      await call("send_input", { session_id, input_text: command });
      await call("await_output", { session_id, pattern: question });
      const first = await call("send_input", { session_id, input_text: secret.slice(0, 7) });
      const second = await call("send_input", { session_id, input_text: secret.slice(7), keys: ["Enter"] });
      expect(await call("await_output", { session_id, pattern: "got +1[56]" })).toMatchObject({ timed_out: false });
      expect(JSON.stringify([first, second])).not.toMatch(/Zebra-4|711-quux/);
      const shown = await call("send_input", { session_id, input_text: "echo visible\n" });
      expect(shown["message"]).toBe("Input sent successfully: 'echo visible\n'");
      await call("exit_terminal", { session_id });
      await client.close();
      for (const part of [secret, "Zebra-4", "711-quux"]) expect(filesWith(folder, part)).toEqual([]);
      expect(filesWith(folder, "echo visible")).toContain(join(folder, "audit.log"));
    });
  }
}

test("a workflow's password is typed, and is in no answer and in no file", async () => {
  const secret = "Zebra-4711-quux";
  const folder = application({});
  const { call, client } = await connectTerminal(folder, { env: { MCP_AUDIT_LOG_PATH: join(folder, "audit.log") } });
  const step = (tool: string, params: JsonObject, next?: string): JsonObject => ({
    action: { tool, params },
    ...(next === undefined ? {} : { transitions: [{ condition: { success: true }, next_state: next }] }),
  });
  const inner = {
    name: "log_in",
    initial_state: "ask",
    states: {
      ask: step("send_input", { session_id: "{session}", input_text: READ }, "prompt"),
      prompt: step("await_output", { session_id: "{session}", pattern: "Password: " }, "answer"),
      answer: step("send_input", { session_id: "{session}", input_text: "{db_password}\n" }, "done"),
      done: step("await_output", { session_id: "{session}", pattern: "got 15" }, "show"),
      show: step("send_input", { session_id: "{session}", input_text: "echo {db_password}\n" }),
    },
  };
  const outer = {
    name: "outer",
    initial_state: "open",
    states: {
      open: step("open_terminal", { shell: "bash --norc" }, "call"),
      call: step("run_workflow", {
        workflow_definition: inner,
        initial_variables: { session: "{session_id}", db_password: "{password}" },
      }),
    },
  };
  const answer = await call("run_workflow", { workflow_definition: outer, initial_variables: { password: secret } });
  expect(answer).toMatchObject({ success: true });
  expect(JSON.stringify(answer)).toContain("got 15");
  expect(JSON.stringify(answer)).not.toContain(secret);
  await call("exit_terminal", { session_id: answer["session_id"] ?? null });
  await client.close();
  expect(filesWith(folder, secret)).toEqual([]);
});
