import { expect, test } from "vitest";
import { NO_ECHO } from "./echo.ts";
import { openModel } from "./open-model.ts";
import { OutputSinceInput } from "./output-since-input.ts";

for (const [what, written, seen] of [
  ["a reset", "before\r\n\u001bcstill", "before\nstill"],
  ["a reset in a full-screen program", "before\r\n\u001b[?1049hfull\u001bcstill", "before\nfull\nstill"],
  ["a reset and more lines than the screen has", `\u001bc${"line\r\n".repeat(60)}end`, `${"line\n".repeat(60)}end`],
  ["a full-screen program that has left", "before\r\n\u001b[?1049hfull\u001b[?1049lstill", "before\nfull\nstill"],
  ["a full-screen program's clearing", "\u001b[?1049hone\u001b[2J\u001b[Htwo\u001b[?1049lstill", "one\ntwo\nstill"],
] as const) {
  test(`what comes after ${what} is output since the input`, async () => {
    const terminal = await openModel({ columns: 80, rows: 24, scrollbackRows: 1_000 });
    const output = new OutputSinceInput(terminal);
    const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
    await write("a long prompt> ");
    output.restart(NO_ECHO);
    await write(`\r\n${written}`);
    expect(output.read()).toEqual({ text: expect.stringContaining(seen), isTruncated: false });
  });
}
