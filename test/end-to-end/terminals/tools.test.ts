import { expect, test } from "vitest";
import { openTerminal, openTerminals } from "./open-terminals.ts";

test("a terminal is opened and shows its prompt", async () => {
  const terminals = openTerminals({}, { toWebUrl: (id) => `http://127.0.0.1:1/terminals/${id}` });

  const { opened } = await openTerminal(terminals);

  expect(opened).toEqual({
    success: true,
    session_id: expect.stringMatching(/^session_[0-9a-f]{8}$/),
    shell: "bash",
    web_url: `http://127.0.0.1:1/terminals/${opened.session_id}`,
    screen_content: "bash$ ",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    error: null,
  });
});

test("bash is opened where no shell is named, in the folder and with the variables asked for", async () => {
  const terminals = openTerminals();

  const { session_id, shell } = await terminals.call("open_terminal", {
    working_directory: "~",
    environment: { GREETING: "hello" },
  });
  await terminals.call("send_input", { session_id, input_text: 'echo "$GREETING $PWD"\n' });
  const { match_text } = await terminals.call("await_output", { session_id, pattern: "hello .*" });

  expect([shell, match_text]).toEqual(["bash", `hello ${terminals.homeDir}`]);
});

test("a program gets nothing of the environment but what terminals need", async () => {
  const terminals = openTerminals({}, { environment: { ...process.env, ANTHROPIC_API_KEY: "sk-secret-1234" } });
  const { send, wait, sinceInput } = await openTerminal(terminals);

  await send("env | cut -d= -f1 | sort | tr '\\\\n' ' '; echo END\n");
  await wait("END");

  const allowed = ["_", "END", "HISTFILE", "HOME", "LANG", "LESSHISTFILE", "LOGNAME", "PATH", "PWD", "OLDPWD"];
  allowed.push("PYTHON_HISTORY", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "USER");
  const names = (await sinceInput()).split("\n")[0]?.split(" ") ?? [];
  expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["PATH", "HOME", "LANG", "TERM"]));
});

test.each([
  [{ shell: "no-such-shell" }, "Shell 'no-such-shell' is not installed."],
  [{ shell: " " }, "The shell has no name."],
  [{ working_directory: "/no/such/folder" }, "The working directory /no/such/folder does not exist."],
  [{ environment: { "A=B": "x" } }, "'A=B' cannot be an environment variable."],
])("%j cannot be opened, and the answer says why", async (request, error) => {
  const result = await openTerminals().call("open_terminal", request);

  expect(result).toMatchObject({ success: false, session_id: "", web_url: null, screen_content: null, error });
});

test("input is sent as it is, with nothing appended", async () => {
  const { send, session_id } = await openTerminal(openTerminals());

  const result = await send("echo one");

  expect(result).toEqual({
    success: true,
    session_id,
    message: "Input sent successfully: 'echo one'",
    screen_content: "bash$ echo one",
    timestamp: expect.any(String),
    process_running: true,
    error: null,
  });
});

test("an input that is the name of a key is text, and keys are pressed only by name", async () => {
  const { send, wait, screen } = await openTerminal(openTerminals());

  await send("echo Enter; # Up;");
  expect(await screen()).toBe("bash$ echo Enter; # Up;");
  await send("", ["Enter"]);

  expect(await wait("Enter")).toMatchObject({ match_text: "Enter" });
});

test("keys with names recall, move and interrupt", async () => {
  const { send, wait, screen } = await openTerminal(openTerminals());

  await send("echo first\n");
  await send("", ["Up", "Home", "M-f", " ", "2", "Enter"]);
  await wait("2 first");
  await send("cat\n");
  const { screen_content } = await send("", ["C-c"]);

  expect(await screen()).toContain("bash$ echo 2 first\n2 first\n");
  expect(screen_content).toMatch(/\^C\nbash\$ $/);
});

test("a key that nobody knows sends nothing", async () => {
  const { send, screen } = await openTerminal(openTerminals());

  const result = await send("text", ["Entr"]);

  expect(result).toMatchObject({ success: false, message: "Failed to send input" });
  expect(result.error).toMatch(/^No key is called 'Entr'\. There are Enter, /);
  expect(await screen()).toBe("bash$ ");
});

test("send_input returns when the screen is quiet, long before the second that it waits at most", async () => {
  const { send } = await openTerminal(openTerminals());
  const durations: number[] = [];

  for (let n = 0; n < 5; n += 1) {
    const startedAt = performance.now();
    await send("echo quick\n");
    durations.push(performance.now() - startedAt);
  }

  expect(Math.min(...durations)).toBeLessThan(500);
});

test("send_input gives a screen that never rests back after a second", async () => {
  const { send } = await openTerminal(openTerminals());

  const { success, screen_content } = await send("while :; do date; done\n");

  expect([success, screen_content?.length ?? 0]).toEqual([true, expect.any(Number)]);
  expect((await send("", ["C-c"])).success).toBe(true);
});

test("await_output answers on the byte, with the match", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("echo 'result: 42 of 50'\n");

  expect(await wait("result: (\\d+)")).toEqual({
    success: true,
    match_text: "result: 42",
    timed_out: false,
    screen_content: "bash$ echo 'result: 42 of 50'\nresult: 42 of 50\nbash$ ",
    elapsed_time: expect.any(Number),
    timestamp: expect.any(String),
    process_running: true,
    error: null,
  });
});

test("a time-out is a success without a match", async () => {
  const { wait } = await openTerminal(openTerminals());

  const result = await wait("never", 0.2);

  expect(result).toMatchObject({ success: true, match_text: null, timed_out: true, error: null });
  expect(result.elapsed_time).toBeGreaterThanOrEqual(0.2);
});

test.each([
  ["(", /^Invalid pattern: .+/],
  ["(?=x)", /^Invalid pattern: .+/],
])("the pattern %s is refused", async (pattern, error) => {
  const { wait } = await openTerminal(openTerminals());

  expect(await wait(pattern)).toMatchObject({ success: false, match_text: null, error: expect.stringMatching(error) });
});

test.each([-1, 3_601, Number.NaN])("a timeout of %d seconds is refused", async (timeout) => {
  const { wait } = await openTerminal(openTerminals());

  expect(await wait("x", timeout)).toMatchObject({ success: false, error: expect.stringMatching(/^The timeout must/) });
});

test("the end of the program ends the waiting, and its exit code is told", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("exec bash -c 'read; exit 3'\n");
  const waiting = wait("never", 600);
  await send("\n");

  expect(await waiting).toMatchObject({ success: true, match_text: null, timed_out: false, process_running: false });
  expect(await wait("never", 600)).toMatchObject({ process_running: false, exit_code: 3 });
});

test("a program that was ended by a signal has the exit code of shells", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("kill -9 $$\n");

  expect(await wait("never")).toMatchObject({ process_running: false, exit_code: 137 });
});

test("nothing can be typed when the program has ended, but its last words can be read", async () => {
  const { send, wait, screen } = await openTerminal(openTerminals());

  await send("echo last words; exit\n");
  await wait("never");

  expect(await send("echo\n")).toMatchObject({
    success: false,
    message: "Failed to send input",
    error: "The program has ended.",
  });
  expect(await screen()).toContain("\nlast words\n");
});

test("waiting can be broken off", async () => {
  const terminals = openTerminals();
  const { session_id } = await openTerminal(terminals);
  const abort = new AbortController();

  const waiting = terminals.call(
    "await_output",
    { session_id, pattern: "never", timeout: 600 },
    { signal: abort.signal },
  );
  abort.abort(new Error("enough"));

  await expect(waiting).rejects.toThrow("enough");
});

test("an opening that is broken off leaves no session behind", async () => {
  const terminals = openTerminals();
  const abort = new AbortController();

  const opening = terminals.call("open_terminal", { shell: "cat" }, { signal: abort.signal });
  await expect
    .poll(async () => (await terminals.call("list_terminal_sessions", {}, { isInternal: true })).total_sessions)
    .toBe(1);
  abort.abort(new Error("enough"));

  await expect(opening).rejects.toThrow("enough");
  expect((await terminals.call("list_terminal_sessions", {})).total_sessions).toBe(0);
});

test("history and tail reach back beyond the screen, in whole lines", async () => {
  const terminals = openTerminals();
  const { send, wait, session_id, screen } = await openTerminal(terminals);
  const long = "x".repeat(200);

  await send(`seq 1 100; echo ${long}; echo DO''NE\n`);
  await wait("DONE");
  const history = await terminals.call("get_screen_content", { session_id, content_mode: "history" });
  const tail = await terminals.call("get_screen_content", { session_id, content_mode: "tail", line_count: 4 });
  const plainTail = await terminals.call("get_screen_content", { session_id, content_mode: "tail" });

  expect(history.screen_content?.split("\n")).toEqual([
    `bash$ seq 1 100; echo ${long}; echo DO''NE`,
    ...Array.from({ length: 100 }, (_, n) => String(n + 1)),
    long,
    "DONE",
    "bash$ ",
  ]);
  expect(tail.screen_content).toBe(`100\n${long}\nDONE\nbash$ `);
  expect(plainTail.screen_content).toBe(await screen());
  expect((await screen()).split("\n")).toHaveLength(30);
});

test.each([
  [{ content_mode: "tail", line_count: 0 } as const, "The line_count must be a whole number from 1 on."],
  [{ content_mode: "tail", line_count: 1.5 } as const, "The line_count must be a whole number from 1 on."],
])("%j is refused", async (request, error) => {
  const terminals = openTerminals();
  const { session_id } = await openTerminal(terminals);

  expect(await terminals.call("get_screen_content", { session_id, ...request })).toMatchObject({
    success: false,
    error,
  });
});

test("sessions are listed with what runs in them and how they are", async () => {
  const terminals = openTerminals();
  const first = await openTerminal(terminals);
  const second = await openTerminal(terminals, "bash --norc");
  await second.send("exit 7\n");
  await second.wait("never");
  const waiting = first.wait("never", 600);
  await expect.poll(() => terminals.find(first.session_id)?.state).toBe("waiting");

  const { success, sessions, total_sessions } = await terminals.call("list_terminal_sessions", {});

  expect([success, total_sessions]).toEqual([true, 2]);
  expect(sessions).toEqual([
    {
      session_id: first.session_id,
      command: "bash",
      state: "waiting",
      created_at: expect.any(String),
      last_activity: expect.any(String),
      web_url: null,
    },
    expect.objectContaining({ command: "bash --norc", state: "terminated", exit_code: 7 }),
  ]);
  await first.exit();
  expect(await waiting).toMatchObject({ match_text: null, process_running: false });
});

test("a session that nobody knows is told so by every tool", async () => {
  const terminals = openTerminals();
  const session_id = "session_00000000";

  expect(await terminals.call("send_input", { session_id, input_text: "x" })).toMatchObject({
    success: false,
    message: "Session not found",
    process_running: false,
  });
  expect(await terminals.call("await_output", { session_id, pattern: "x" })).toMatchObject({ success: false });
  expect(await terminals.call("get_screen_content", { session_id })).toMatchObject({ success: false });
  expect(await terminals.call("exit_terminal", { session_id })).toEqual({
    success: false,
    session_id,
    message: "Session not found",
  });
});

test("an ended session is swept after its time", async () => {
  const terminals = openTerminals({ sweepAfterMs: 50 });
  const { send } = await openTerminal(terminals);

  await send("exit\n");

  await expect
    .poll(async () => (await terminals.call("list_terminal_sessions", {}, { isInternal: true })).total_sessions)
    .toBe(0);
});

test("the sessions of one owner end together, and no others", async () => {
  const terminals = openTerminals();
  await terminals.call("open_terminal", {}, { owner: "run-1" });
  await terminals.call("open_terminal", {}, { owner: "run-1" });
  const { session_id } = await terminals.call("open_terminal", {}, { owner: "run-2" });

  await terminals.exitOwned("run-1");

  expect((await terminals.call("list_terminal_sessions", {})).sessions.map(({ session_id: id }) => id)).toEqual([
    session_id,
  ]);
});
