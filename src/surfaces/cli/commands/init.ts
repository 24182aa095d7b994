import { layOutTerminalExamples } from "../../../operations/lay-out-terminal-examples.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl init terminal`: the examples of terminal workflows, and what to type next. */
export async function initTerminal(dir: string, { json }: { readonly json?: true }): Promise<number> {
  const laidOut = await layOutTerminalExamples(dir);
  if (json === true) {
    const { folder, written, alike, kept } = laidOut;
    printEnvelope({ folder, written, already_there: alike, left_alone: kept });
    return 0;
  }
  const { folder, written, alike, kept, mcpServer } = laidOut;
  for (const file of written) print(file);
  tell(
    `${written.length} files written to ${folder}${alike.length > 0 ? `; ${alike.length} were there already` : ""}.`,
  );
  for (const file of kept) tell(`${file} is there already and says something else: it is left alone.`);
  if (kept.includes(".mcp.json")) tell(`To offer terminals to your editor, add this server to it: ${mcpServer}`);
  const others = kept.filter((file) => file !== ".mcp.json");
  if (others.length > 0) tell("For examples that are whole, lay them out elsewhere: pawl init terminal my-terminals");
  tell(toNext(dir));
  return 0;
}

function toNext(dir: string): string {
  return `
Next:
${dir === "." ? "" : `  cd ${toShellWord(dir)}\n`}  pawl run hello.json -i who=Ada
  pawl run branch-on-tests.json -i program=src/total.sh
  pawl run ci-pipeline.json
README.md says what they show. An MCP client that is started here finds terminals in .mcp.json.`;
}

function toShellWord(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
