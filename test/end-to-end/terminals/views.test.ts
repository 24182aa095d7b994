import { expect, test } from "vitest";
import { openModel } from "../../../src/executors/terminal/screen/open-model.ts";
import { TerminalScreen } from "../../../src/executors/terminal/screen/terminal-screen.ts";
import { needs } from "../../support/needs.ts";
import { openTerminal, openTerminals } from "./open-terminals.ts";

test("a view that joins shows the screen as it is, and then all that comes", async () => {
  const terminals = openTerminals();
  const { send, wait, session_id, screen } = await openTerminal(terminals);
  await send("seq 1 50; printf '\\\\e[1;31;44mred\\\\e[0m 日本 \\\\e[38;2;1;2;3mrgb\\\\e[0m\\\\n'\n");
  await wait("rgb");
  const model = await openModel({ columns: 120, rows: 30, scrollbackRows: 1_000 });
  const view = new TerminalScreen(model);

  const { snapshot, leave } = terminals.find(session_id)?.join({ data: (data) => model.write(data) }) ?? {};
  model.write(snapshot ?? "");
  await send("echo more\n");
  await wait("more");
  leave?.();
  await new Promise<void>((resolve) => model.write("", resolve));

  expect(view.readScreen()).toBe(await screen());
  expect(view.serialize()).toBe(terminals.find(session_id)?.screen.serialize());
});

test("a snapshot of a full-screen program restores it", async () => {
  needs("vim");
  const terminals = openTerminals();
  const { wait, session_id, screen } = await openTerminal(terminals, "vim");
  await wait("~");
  const model = await openModel({ columns: 120, rows: 30, scrollbackRows: 1_000 });

  const snapshot = terminals.find(session_id)?.join({ data: () => undefined }).snapshot ?? "";
  await new Promise<void>((resolve) => model.write(snapshot, resolve));

  expect(new TerminalScreen(model).readScreen()).toBe(await screen());
  expect(model.buffer.active.type).toBe("alternate");
});
