import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { SessionRecordings } from "../../src/executors/terminal/recording/session-recordings.ts";
import { openModel } from "../../src/executors/terminal/screen/open-model.ts";
import { TerminalScreen } from "../../src/executors/terminal/screen/terminal-screen.ts";
import { createTerminalExecutor } from "../../src/executors/terminal/terminal-executor.ts";
import type { Task } from "../../src/ports/executor.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { realTerminals } from "./real-terminals.ts";

const SECRET = "sesame-4711";

function recordedTerminals(options: { maxBytes?: number; recordsSessions?: boolean; recordsRuns?: boolean } = {}) {
  const files = new MemoryFileStorage();
  const dir = join(temporaryFolder(), "recordings");
  const told: string[] = [];
  const recordings = new SessionRecordings({
    dir,
    files: async () => files,
    secrets: () => ({ spellings: [SECRET], mask: (text) => text.replaceAll(SECRET, "***") }),
    maxBytes: 1_000_000,
    recordsRuns: true,
    recordsSessions: false,
    tell: (line) => told.push(line),
    ...options,
  });
  const { sessions } = realTerminals(
    { defaultShell: "bash --norc" },
    { opened: (session) => recordings.opened(session), currentDir: temporaryFolder() },
  );
  const executor = createTerminalExecutor(sessions, recordings);
  return {
    files,
    dir,
    told,
    recordings,
    sessions,
    executor,
    async call(tool: string, params: JsonObject, runId = "run-1"): Promise<JsonObject> {
      const task = { runId, path: "a", input: { tool, params } } as unknown as Task;
      const outcome = await executor.run(task, new AbortController().signal);
      if (outcome.status === "failed") throw new Error(outcome.message);
      return outcome.output as JsonObject;
    },
    async end(runId = "run-1"): Promise<void> {
      await executor.runEnded?.({ runId, status: "failed", options: {} });
    },
    async paths(): Promise<string[]> {
      return (await files.list("")).map(({ path }) => path);
    },
  };
}

type Event = readonly [number, string, string];

async function played(content: Uint8Array | undefined) {
  const [header, ...events] = Buffer.from(content ?? [])
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  const { width, height } = header as { width: number; height: number };
  const model = await openModel({ columns: width, rows: height, scrollbackRows: 1_000 });
  for (const [, type, text] of events as Event[]) {
    if (type === "o") model.write(text);
    if (type !== "r") continue;
    const [columns = 0, rows = 0] = text.split("x").map(Number);
    await new Promise<void>((resolve) => model.write("", resolve));
    model.resize(columns, rows);
  }
  await new Promise<void>((resolve) => model.write("", resolve));
  return { header: header as JsonObject, events: events as Event[], screen: new TerminalScreen(model) };
}

test("what a run shows is an artifact when the run ends, and plays to the same screen", async () => {
  const { call, end, files, paths, sessions, dir } = recordedTerminals();
  const { session_id } = await call("open_terminal", {});
  await call("send_input", {
    session_id: session_id ?? null,
    input_text: "printf '\\\\e[1;31mred\\\\e[0m 日本\\\\n'; seq 40\n",
  });
  await call("await_output", { session_id: session_id ?? null, pattern: "^40$" });
  await call("send_input", { session_id: session_id ?? null, input_text: "vi -u NONE\n" });
  const session = sessions.find(String(session_id));
  session?.resize(80, 24);
  await call("send_input", { session_id: session_id ?? null, input_text: "ihello" });
  await call("await_output", { session_id: session_id ?? null, pattern: "hello" });
  const shown = session?.screen.serialize();
  expect(await paths()).toEqual([]);
  await end();

  const path = `artifacts/run-1/${session_id}.cast`;
  expect(await paths()).toEqual([path]);
  const { header, events, screen } = await played(await files.read(path));
  expect(header).toMatchObject({ version: 2, width: 120, height: 30, title: "bash --norc" });
  expect(events.every(([at], index) => at >= (events[index - 1]?.[0] ?? 0))).toBe(true);
  expect(screen.serialize()).toBe(shown);
  expect(() => readFileSync(join(dir, path))).toThrow("ENOENT");
});

test("a session that another has opened is recorded from the first input on", async () => {
  const { call, end, files, sessions } = recordedTerminals();
  const { session_id } = await sessions.call("open_terminal", {});
  await sessions.call("send_input", { session_id, input_text: "echo before\n" });
  await call("get_screen_content", { session_id });
  await call("send_input", { session_id, input_text: "echo after\n" });
  await end();

  const { screen } = await played(await files.read(`artifacts/run-1/${session_id}.cast`));
  expect(screen.readScreen()).toBe(sessions.find(session_id)?.screen.readScreen());
});

test("secrets are masked, also at the edge of the screen and in two pieces", async () => {
  const { call, end, files } = recordedTerminals();
  const { session_id = null } = await call("open_terminal", {});
  const input_text = `printf sesa; sleep 0.2; printf 'me-4711\\\\n' # ${"x".repeat(60)} sesame-4711\n`;
  await call("send_input", { session_id, input_text });
  await call("await_output", { session_id, pattern: "^sesame-4711" });
  await end();

  const { events } = await played(await files.read(`artifacts/run-1/${session_id}.cast`));
  const output = events.map(([, , text]) => text).join("");
  expect(output.split("***")).toHaveLength(3);
  expect(output).not.toMatch(/same-4|sesame/);
});

test("a recording that has become long enough says so and ends", async () => {
  const { call, end, files } = recordedTerminals({ maxBytes: 4_096 });
  const { session_id = null } = await call("open_terminal", {});
  await call("send_input", { session_id, input_text: "seq 5000\n" });
  await call("await_output", { session_id, pattern: "^5000" });
  await end();

  const content = await files.read(`artifacts/run-1/${session_id}.cast`);
  const { events } = await played(content);
  expect(content?.byteLength).toBeLessThan(4_300);
  expect(events.at(-1)).toEqual([expect.any(Number), "m", "The recording ends here: it may be 4096 bytes long."]);
});

test.each<[string, { recordsSessions?: boolean; recordsRuns?: boolean }, RegExp[]]>([
  ["only of runs, unless configured", {}, [/^artifacts\/run-1\//]],
  ["of all sessions", { recordsSessions: true }, [/^artifacts\/run-1\//, /^terminals\//]],
  ["of none", { recordsRuns: false }, []],
])(
  "recordings are made %s",
  async (_, options, expected) => {
    const { call, recordings, sessions, paths } = recordedTerminals(options);
    await Promise.all([sessions.call("open_terminal", {}), call("open_terminal", {})]);
    await recordings.close();
    const kept = await paths();
    expect(kept).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(kept[index]).toMatch(pattern);
  },
  30_000,
);

test("what a killed process has left is kept, up to the last whole line, beside what is there already", async () => {
  const { dir, recordings, files, paths } = recordedTerminals();
  const path = "artifacts/run-2/session_00000001.cast";
  await files.write(path, "first\n");
  mkdirSync(join(dir, "artifacts/run-2"), { recursive: true });
  writeFileSync(join(dir, path), 'second\n[1.5, "o", "hal');
  writeFileSync(join(dir, "artifacts/run-2/session_00000002.cast"), '{"vers');
  await recordings.keepLeft();

  expect(await paths()).toEqual(["artifacts/run-2/session_00000001-2.cast", path]);
  expect(Buffer.from((await files.read("artifacts/run-2/session_00000001-2.cast")) ?? []).toString()).toBe("second\n");
  expect(() => readFileSync(join(dir, "artifacts/run-2/session_00000002.cast"))).toThrow("ENOENT");
});

test("where nothing can be written the session goes on", async () => {
  const { dir, call, end, told, paths } = recordedTerminals();
  writeFileSync(dir, "a file is in the way");
  const { session_id = null } = await call("open_terminal", {});
  await call("send_input", { session_id, input_text: "echo fine\n" });
  expect(await call("await_output", { session_id, pattern: "^fine" })).toMatchObject({ match_text: "fine" });
  await end();
  expect(await paths()).toEqual([]);
  expect(told[0]).toContain("is not complete");
});
