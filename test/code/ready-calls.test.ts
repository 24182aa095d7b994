import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { needs } from "../support/needs.ts";
import { type Called, callCode, createExecutor, makeApplication, outputOf } from "./application.ts";

needs("bwrap", "python3");

const LANGUAGES = [
  {
    language: "python",
    script: "a.py",
    text: `
import atexit, os, threading, time
import helper
calls = 0
def check(input):
    global calls
    calls += 1
    atexit.register(print, "at the end")
    threading.Thread(target=lambda: (time.sleep(0.1), print("a thread"))).start()
    print("printed")
    seen = [name for name in os.listdir("/tmp") if name.startswith("left-by-")]
    open("/tmp/left-by-" + input, "w").close()
    return [calls, input, helper.name, os.environ["PAWL_IDEMPOTENCY_KEY"], seen]
`,
    helper: { name: "helper.py", text: (name: string) => `name = "${name}"\n` },
    log: ["printed", "a thread", "at the end"],
  },
  {
    language: "javascript",
    script: "a.mjs",
    text: `
import { readdirSync, writeFileSync } from "node:fs";
import { name } from "./helper.mjs";
let calls = 0;
export function check(input) {
  calls += 1;
  process.on("exit", () => console.log("at the end"));
  console.log("printed");
  const seen = readdirSync("/tmp").filter((name) => name.startsWith("left-by-"));
  writeFileSync("/tmp/left-by-" + input, "");
  return [calls, input, name, process.env.PAWL_IDEMPOTENCY_KEY, seen];
}
`,
    helper: { name: "helper.mjs", text: (name: string) => `export const name = "${name}";\n` },
    log: ["printed", "at the end"],
  },
] as const;

test.each(LANGUAGES)("calls that stood ready in $language know nothing of each other", async (example) => {
  const { language, script, text, helper, log } = example;
  const folder = makeApplication({ [script]: text, [helper.name]: helper.text("first") });
  const call = open(folder, { language, script, function: "check" });
  const calls: Called[] = [];
  for (const input of ["a", "b", "c"]) {
    calls.push(await call(input));
    await setTimeout(400);
  }
  writeFileSync(join(folder, "new"), helper.text("second"));
  renameSync(join(folder, "new"), join(folder, helper.name));
  calls.push(await call("d"));

  const expected = (input: string, name: string): Json => [1, input, name, "key-1", []];
  const firsts = ["a", "b", "c"].map((input) => expected(input, "first"));
  expect(calls.map(outputOf)).toEqual([...firsts, expected("d", "second")]);
  for (const { log: said } of calls) expect(said).toEqual(log.map((text) => expect.objectContaining({ text })));
});

test("a call that fails, and one that ends its process, are told as before", async () => {
  const folder = makeApplication({
    "a.py": "import os\ndef check(input):\n    os._exit(3) if input else 1 / 0\n",
  });
  const call = open(folder, { language: "python", script: "a.py", function: "check" });
  for (let round = 0; round < 2; round += 1) {
    expect((await call(false)).outcome).toMatchObject({
      code: "CODE_FAILED",
      details: { exception: "ZeroDivisionError" },
    });
    await setTimeout(400);
    expect((await call(true)).outcome).toMatchObject({ code: "CODE_FAILED", details: { exit_code: 3 } });
    await setTimeout(400);
  }
});

// Node makes its streams before the call comes; the file descriptors must be as they were.
test.each(["a.mjs", "a.ts"])(
  "all that %s prints gets out, by a stream or a file descriptor, however much",
  async (script) => {
    const text = `
import fs from "node:fs";
export function check(lines) {
  for (let line = 0; line < lines; line += 1) {
    console.log("x".repeat(4000));
    fs.writeSync(1, "y".repeat(4000) + "\\n");
    fs.writeSync(2, "z".repeat(4000) + "\\n");
  }
  return lines;
}
`;
    const folder = makeApplication({ [script]: text });
    const call = open(folder, { language: "javascript", script, function: "check" });
    for (let round = 0; round < 2; round += 1) {
      const called = await call(200);
      expect(outputOf(called)).toBe(200);
      expect(called.log.filter((entry) => isJsonObject(entry) && String(entry["text"]).length === 4_000)).toHaveLength(
        600,
      );
      await setTimeout(400);
    }
  },
);

function open(folder: string, input: JsonObject): (value: Json) => Promise<Called> {
  const sandbox = createSandbox({ mode: "required", ready: 4 });
  onTestFinished(() => sandbox.close());
  const executor = createExecutor(sandbox);
  return (value) => callCode(executor, { ...input, input: value }, { settings: { folder } });
}
