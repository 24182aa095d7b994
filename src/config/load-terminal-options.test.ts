import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadTerminalOptions } from "./load-terminal-options.ts";
import { DEFAULTS, type TerminalSettings } from "./settings.ts";

const WHOLE = `
[web]
enabled = true
host = "0.0.0.0"
port = 9000

[security]
level = "MEDIUM"
max_calls_per_minute = 30
max_sessions = 5

[session]
default_shell = "zsh"
timeout = 30
isolate_history = false

[logging]
level = "INFO"

[terminal]
width = 100
height = 40
polling_interval = 0.05
emulators = [{ name = "xterm", command = ["xterm", "-e"] }]
`;

test("everything has a default", async () => {
  expect(await load({})).toEqual({
    level: "high",
    sandbox: false,
    sandboxFolders: [],
    backend: "pty",
    maxCallsPerMinute: 60,
    maxSessions: 50,
    maxSessionsOfTenant: 10,
    defaultShell: "bash",
    isolateHistory: true,
    columns: 120,
    record: true,
    recordMaxBytes: 16_777_216,
    recordSessions: false,
    rows: 30,
    scrollbackRows: 2_000,
    sweepAfterMs: 300_000,
    auditLogPath: undefined,
    web: { enabled: false, host: "127.0.0.1", port: 0, token: undefined, canType: false },
    notes: [],
  });
});

test("a terminal-control.toml is read as it is, and what has no meaning here is named", async () => {
  const options = await load({ current: WHOLE });

  expect(options).toMatchObject({
    level: "medium",
    maxCallsPerMinute: 30,
    maxSessions: 5,
    defaultShell: "zsh",
    isolateHistory: false,
    columns: 100,
    rows: 40,
    web: { enabled: true, host: "0.0.0.0", port: 9000 },
  });
  expect(options.notes.map((note) => note.replace(/^.*toml: /, ""))).toEqual([
    "timeout in [session] is not used.",
    "level in [logging] is not used.",
    "polling_interval in [terminal] is not used.",
    "emulators in [terminal] is not used.",
  ]);
});

test("the one in the current folder goes before the one in ~/.config", async () => {
  const [home, current] = ['[security]\nlevel = "low"\nmax_sessions = 1\n', '[security]\nlevel = "off"\n'];

  expect(await load({ home })).toMatchObject({ level: "low", maxSessions: 1 });
  expect(await load({ home, current })).toMatchObject({ level: "off", maxSessions: 50 });
});

test("the application's own settings go before the file", async () => {
  const options = await load({ current: WHOLE, settings: { level: "low", columns: 80 } });

  expect(options).toMatchObject({ level: "low", columns: 80, rows: 40 });
});

test.each([
  ['[security]\nlevel = "strict"\n', /terminal-control\.toml: level in \[security\]: /],
  ["[terminal]\nwidth = -3\n", /terminal-control\.toml: width in \[terminal\]: /],
  ["[terminal\n", /terminal-control\.toml cannot be read: /],
])("%j is an error that names the place", async (current, message) => {
  await expect(load({ current })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(message),
  });
});

function load(given: { current?: string; home?: string; settings?: TerminalSettings }) {
  const folder = mkdtempSync(join(tmpdir(), "pawl-terminal-options-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [currentDir, homeDir] = [join(folder, "current"), join(folder, "home")];
  mkdirSync(currentDir);
  mkdirSync(join(homeDir, ".config"), { recursive: true });
  if (given.current !== undefined) writeFileSync(join(currentDir, "terminal-control.toml"), given.current);
  if (given.home !== undefined) writeFileSync(join(homeDir, ".config", "terminal-control.toml"), given.home);
  return loadTerminalOptions({ settings: { ...DEFAULTS, terminal: given.settings ?? {} }, currentDir, homeDir });
}
