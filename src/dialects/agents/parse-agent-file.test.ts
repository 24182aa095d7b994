import { expect, test } from "vitest";
import { parseAgentFile } from "./parse-agent-file.ts";

/** What an agent of `.claude/agents` may not use here, and what is said of its file. */
function read(settings: string) {
  const { agent, problems } = parseAgentFile({ text: `---\nname: a\n${settings}\n---\nDo it.`, file: "a.md" });
  const said = problems.map(({ severity, message, remedy }) => [severity, message, remedy]);
  return { exclude: agent?.settings.get("exclude")?.value, said };
}

test("`disallowedTools` holds the built-in tools back that the agent has, and tools of servers", () => {
  const all = "tools: Bash, Read, Write, WebFetch, mcp__shop__list\n";
  expect(read(`${all}disallowedTools: Bash, mcp__shop__delete, mcp__mail`).exclude).toEqual([
    "bash",
    "mcp__shop__delete",
    "mcp__mail__*",
  ]);
  expect(read(`${all}disallowedTools: Write`).exclude).toEqual(["write_file", "delete_file"]);
  expect(read(`${all}disallowedTools: "Bash(rm *)"`).exclude).toEqual(["bash"]);
  expect(read("disallowedTools: Bash, NotebookEdit, Task").exclude).toBeUndefined();
  expect(read("tools: Read, Grep").exclude).toEqual(["write_file", "delete_file"]);
});

test("a slip of a tool that there is does not leave the tool open", () => {
  expect(read("tools: Bash\ndisallowedTools: Bsah").said).toEqual([
    ["error", "There is no tool `Bsah`.", "Did you mean `Bash`?"],
  ]);
  expect(read("tools: WebFetsh").said).toEqual([["error", "There is no tool `WebFetsh`.", "Did you mean `WebFetch`?"]]);
});
