import { expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { createScriptLog } from "./code-executor.ts";

function record(write: (log: ReturnType<typeof createScriptLog>) => void): Json[] {
  const events: Json[] = [];
  const log = createScriptLog((event) => events.push(event));
  write(log);
  log.close();
  return events;
}

test("lines come as lines, however they are cut on the way", () => {
  const bytes = Buffer.from("grüße\r\n👋\n\nlast");
  const events = record((log) => {
    for (const byte of bytes) log.write("stdout", Buffer.from([byte]));
  });

  expect(events).toEqual(["grüße", "👋", "", "last"].map((text) => ({ type: "stdout", text })));
});

test("the two streams do not mix", () => {
  const events = record((log) => {
    log.write("stdout", Buffer.from("one, "));
    log.write("stderr", Buffer.from("oops\n"));
    log.write("stdout", Buffer.from("two\n"));
  });

  expect(events).toEqual([
    { type: "stderr", text: "oops" },
    { type: "stdout", text: "one, two" },
  ]);
});

test("a line that never ends is cut", () => {
  const events = record((log) => {
    for (let index = 0; index < 1_000; index += 1) log.write("stdout", Buffer.from("x".repeat(1_000)));
  });

  expect(events).toEqual([{ type: "stdout", text: `${"x".repeat(4_096)}…` }]);
});

test("lines without end are cut, and that is said once", () => {
  const events = record((log) => log.write("stdout", Buffer.from("x\n".repeat(10_000))));

  expect(events.length).toBe(2_001);
  expect(events.at(-1)).toEqual({ type: "warning", text: "Only the first 2000 lines are kept." });
});
