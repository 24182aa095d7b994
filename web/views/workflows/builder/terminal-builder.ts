import { type Builder, type Fields, fieldsOf, type Link } from "./builder.ts";
import { setAt } from "./edit-text.ts";
import { insertStep, readNamed } from "./machine-steps.ts";

const CONDITIONS = [
  ["success", "after a success", { success: true }],
  ["failure", "after a failure", { success: false }],
  ["timeout", "after a timeout", { timeout_occurred: true }],
] as const;

/** States of terminals, and where each leads. */
export const terminalBuilder: Builder = {
  schemaPath: ["states", "any"],
  kinds: [
    toolKind("send_input", "types into a terminal", { session_id: "{session_id}", input_text: "echo hello\n" }),
    toolKind("await_output", "waits for output", { session_id: "{session_id}", pattern: "hello", timeout: 10 }),
    toolKind("open_terminal", "opens a terminal", { shell: "bash" }),
    toolKind("get_screen_content", "reads the screen", { session_id: "{session_id}" }),
    toolKind("exit_terminal", "closes the terminal", { session_id: "{session_id}" }),
    toolKind("run_workflow", "runs another workflow", { workflow_name: "NAME" }),
  ],
  hidden: ["transitions"],
  usual: ["action", "timeout"],
  linksTitle: "Goes to",
  ways: [
    ...CONDITIONS.map(([when, words]) => ({ when, words })),
    { when: "match", words: "if the text matches", wants: "a regular expression" },
    { when: "no-match", words: "if the text does not match", wants: "a regular expression" },
  ],
  readSteps: (text) => readNamed(text, "states"),
  toId: (number) => `state_${number}`,
  addStep(text, added) {
    return insertStep(text, added, {
      builder: terminalBuilder,
      group: "states",
      startPath: ["initial_state"],
      isEnd: ({ fields }) => fieldsOf(fields["action"])["tool"] === "exit_terminal",
      goingTo: (_step, next) => ({
        transitions: next === undefined ? [] : [{ condition: { success: true }, next_state: next }],
      }),
    });
  },
  readLinks({ fields: { transitions } }) {
    return Array.isArray(transitions) ? transitions.map(toTerminalLink) : [];
  },
  writeLinks: (text, { path }, links) => setAt(text, [...path, "transitions"], links.map(fromTerminalLink)),
};

function toolKind(tool: string, words: string, params: Fields): Builder["kinds"][number] {
  return { name: tool, words, fields: () => ({ action: { tool, params } }) };
}

function toTerminalLink(written: unknown): Link {
  const { condition, next_state: to } = fieldsOf(written);
  const fields = fieldsOf(condition);
  const only = JSON.stringify(fields);
  const way = CONDITIONS.find(([, , each]) => JSON.stringify(each) === only)?.[0];
  if (way !== undefined) return { when: way, to: String(to) };
  if (Object.keys(fields).length === 1) {
    if (typeof fields["pattern_match"] === "string")
      return { when: "match", words: fields["pattern_match"], to: String(to) };
    if (typeof fields["pattern_not_match"] === "string")
      return { when: "no-match", words: fields["pattern_not_match"], to: String(to) };
  }
  return { when: "raw", to: String(to), raw: written };
}

function fromTerminalLink({ when, words = "", to, raw }: Link): unknown {
  if (raw !== undefined) return { ...fieldsOf(raw), next_state: to };
  const simple = CONDITIONS.find(([each]) => each === when)?.[2];
  const pattern = when === "no-match" ? { pattern_not_match: words || ".*" } : { pattern_match: words || ".*" };
  return { condition: simple ?? pattern, next_state: to };
}
