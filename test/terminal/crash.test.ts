import { expect, test } from "vitest";
import type { World } from "../faults/world.ts";
import { realTerminals } from "./real-terminals.ts";
import { compile, terminalWorld, using, when, workflow } from "./terminal-world.ts";

const success = { success: true };

/** Resolves when it is on record that a state has begun. */
async function reached(world: World, runId: string, state: string): Promise<void> {
  await new Promise<void>((resolve) => {
    world.host.watch(runId, (notice) => {
      if (notice.type === "event" && notice.event.type === "stepStarted" && notice.event.path === state) resolve();
    });
  });
}

/** Runs a workflow until a state has begun, then goes on in another process, whose terminals are others. */
async function crashIn(state: string, definition: ReturnType<typeof workflow>) {
  const [before, after] = [realTerminals(), realTerminals()];
  const first = await terminalWorld({}, {}, { host: { findExecutor: async () => before.executor } });
  const { id } = await first.start(await compile(definition));
  await reached(first, id, state);
  const second = first.next({ host: { findExecutor: async () => after.executor } });
  await second.host.recover();
  const record = await second.host.settled(id);
  return {
    record,
    world: second,
    paths: (await second.eventsOf(id)).flatMap((event) => ("path" in event ? [event.path] : [])),
  };
}

test("after a crash the run resumes at its state, and a transition opens the lost session again", async () => {
  const definition = workflow({
    open: using("open_terminal", {}, [when(success, "wait")]),
    wait: using("await_output", { session_id: "{session_id}", pattern: "never", timeout: 60 }, [
      when({ field_equals: { error_code: "SESSION_LOST" } }, "reopen"),
      when(success, "wait"),
    ]),
    reopen: using("open_terminal", {}, [when(success, "type")]),
    type: using("send_input", { session_id: "{session_id}", input_text: "echo hi\n" }, [when(success, "close")]),
    close: using("exit_terminal", { session_id: "{session_id}" }),
  });
  const { record, paths } = await crashIn("wait#1", definition);
  expect(record.status).toBe("completed");
  expect([...new Set(paths)]).toEqual(["open#1", "wait#1", "reopen#1", "type#1", "close#1"]);
});

test("without such a transition the run fails with what was lost", async () => {
  const definition = workflow({
    open: using("open_terminal", {}, [when(success, "wait")]),
    wait: using("await_output", { session_id: "{session_id}", pattern: "never", timeout: 60 }, []),
  });
  const { record } = await crashIn("wait#1", definition);
  expect(record).toMatchObject({ status: "failed", error: { code: "SESSION_LOST" } });
});

test("text that was being typed is not typed again: nobody knows how much of it was", async () => {
  const definition = workflow({
    open: using("open_terminal", {}, [when(success, "type")]),
    type: using("send_input", { session_id: "{session_id}", input_text: "x\n" }, [
      when({ field_equals: { error_code: "INTERRUPTED" } }, "again"),
      when(success, "open"),
    ]),
    again: using("list_terminal_sessions", {}),
  });
  const { record, paths } = await crashIn("type#1", definition);
  expect(record.status).toBe("completed");
  expect(paths.at(-1)).toBe("again#1");
});
