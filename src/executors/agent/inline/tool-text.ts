import type { ToolCallResult } from "../../../ports/agent-toolbox.ts";

/** What a tool may say to the model. The whole is kept with the run. */
const MAX_CHARS = 64 * 1024;

/** The text that the model gets for a result: cut, with a note that says so, where it is longer than a model should read. */
export function toToolText({
  text,
  structured,
  isError,
}: Pick<ToolCallResult, "text" | "structured" | "isError">): string {
  const said = text !== "" || structured === undefined ? text : JSON.stringify(structured);
  if (said === "") return isError ? "The tool reported an error and said nothing else." : "(no output)";
  if (said.length <= MAX_CHARS) return said;
  // Never between the halves of one character.
  const end = isHighSurrogate(said.charCodeAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
  return `${said.slice(0, end)}\n\n[Cut here: ${said.length - end} more of ${said.length} characters. Ask the tool for less at a time.]`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
