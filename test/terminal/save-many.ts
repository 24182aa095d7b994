import { TerminalLibrary } from "../../src/storage/files/terminal-library.ts";

/** Saves the same named workflow with different contents, as fast as it can: one of many processes that do. */
const [dir = "", who = "", count = "0"] = process.argv.slice(2);
const library = new TerminalLibrary({ dir });
const names: (string | undefined)[] = [];
for (let n = 0; n < Number(count); n += 1) {
  const params = { session_id: `${who}-${n}` };
  const states = { a: { action: { tool: "exit_terminal", params }, transitions: [] } };
  names.push(await library.save({ name: "same", initial_state: "a", states }, { states: 1 }));
  await library.noteSuccess("same");
}
process.stdout.write(JSON.stringify(names));
