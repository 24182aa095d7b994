import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { connectTerminal, type TerminalClient } from "./terminal-client.ts";

needs("bwrap", "curl");

const FILES = {
  "src/main.txt": "the program",
  "pawl.yaml": "terminal: {sandbox_folders: [work]}\n",
  ".env": "KEY=planted-key\n",
  "work/begun.txt": "",
};

// Of what people do all day; the word list of level high refuses most of these outside.
const ORDINARY = [
  ['echo "$(pwd)"', /app|pawl/],
  ["echo `echo ticks`", /ticks/],
  [`name=braces; echo \${name}`, /braces/],
  ["true; cat src/main.txt", /the program/],
  ["echo sudo $'\\x41'", /sudo/],
  ["rm -f /tmp/x; rm -f /tmp/y; echo removed", /removed/],
] as const;

test("a terminal in the sandbox is refused no word, and reaches nothing of this machine", async () => {
  const folder = application(FILES);
  const local = createServer((_, answer) => answer.end("planted on loopback"));
  onTestFinished(() => void local.close());
  await new Promise<void>((resolve) => local.listen(0, "127.0.0.1", resolve));
  const { port } = local.address() as AddressInfo;
  const client = await connectTerminal(folder, { env: { SECRET_THING: "planted in a variable" } });
  const { type } = await open(client, { sandbox: true });

  for (const [line, seen] of ORDINARY) expect(await type(line)).toMatch(seen);
  const spied = [
    await type("cat .env pawl.yaml /root/.profile /etc/shadow; env | grep -c planted; ls -A ~"),
    await type(`curl -s -m 3 http://127.0.0.1:${port}/; curl -s -m 3 --noproxy '*' http://127.0.0.1:${port}/`),
    await type("touch here src/there; echo made > work/made.txt; ls -d /proc/[0-9]* | wc -l"),
  ].join("\n");

  expect(spied).not.toMatch(/planted-key|planted on|sandbox_folders:|root:|cargo/);
  expect([existsSync(join(folder, "here")), existsSync(join(folder, "src/there"))]).toEqual([false, false]);
  expect(readFileSync(join(folder, "work/made.txt"), "utf8")).toBe("made\n");
});

test("jobs and keys work in a terminal in the sandbox", async () => {
  const { type, client, session_id } = await open(await connectTerminal(application(FILES)), { sandbox: true });
  await client.call("send_input", { session_id, input_text: "sleep 1000\n" });
  await client.call("send_input", { session_id, input_text: "\\x03" });

  expect(await type("echo code $?")).toMatch(/code 130/);
  expect(await type("sleep 100 & jobs")).toMatch(/Running/);
});

test("it opens in the application only", async () => {
  const folder = application(FILES);
  mkdirSync(join(folder, ".hidden"));
  const client = await connectTerminal(folder);
  for (const working_directory of ["/tmp", "~", "..", ".hidden"]) {
    const { success, error } = await client.call("open_terminal", { sandbox: true, working_directory });
    expect({ success, error }).toEqual({ success: false, error: expect.stringMatching(/opens in/) });
  }
});

test("the setting puts every terminal there, and where there is no sandbox none opens", async () => {
  const folder = application(FILES);
  const { type } = await open(await connectTerminal(folder, { env: { PAWL_TERMINAL__SANDBOX: "true" } }), {
    sandbox: false,
  });
  expect(await type("cat .env; echo $(whoami 2>&1)")).not.toMatch(/planted-key/);

  const off = await connectTerminal(application(FILES), { env: { PAWL_CODE__SANDBOX: "off" } });
  const refused = await off.call("open_terminal", { sandbox: true });
  expect(refused).toMatchObject({ success: false, error: expect.stringMatching(/code\.sandbox/) });
});

async function open(client: TerminalClient, request: { readonly sandbox: boolean }) {
  const opened = await client.call("open_terminal", { shell: "bash --norc", ...request });
  expect(opened).toMatchObject({ success: true, error: null });
  const session_id = String(opened["session_id"]);
  let count = 0;
  const type = async (line: string): Promise<string> => {
    count += 1;
    await client.call("send_input", {
      session_id,
      input_text: `${line}; echo do''ne-${count}\n`,
    });
    const seen = await client.call("await_output", { session_id, pattern: `done-${count}`, timeout: 15 });
    return String(seen["screen_content"]);
  };
  return { client, session_id, type };
}
