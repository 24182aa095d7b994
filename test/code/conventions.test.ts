import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Executor, Outcome } from "../../src/ports/executor.ts";
import { needs } from "../support/needs.ts";
import { callCode, createExecutor, makeApplication, outputOf } from "./application.ts";

const PYTHON = `
import json, helpers
from validators import prices
print("loaded")

def whole(input): return {"input": input, "rate": helpers.rate, "vat": prices.vat}
def by_name(a, b=10): return a + b
def only_name(order): return order
def rest(**fields): return sorted(fields)
def nothing(): return "called"
async def later(input):
    print("waiting")
    return [input]
def none(input): return None
def raises(input): raise ValueError("bad order")
def wraps(input):
    try: raises(input)
    except ValueError as error: raise KeyError("no order") from error
def meets(input):
    try: raises(input)
    except ValueError: return input.missing
def leaves(input): raise SystemExit(3)
def leaves_well(input): raise SystemExit(0)
def unknown_field(missing, other): return 1
def nan(input): return {"list": [1, float("nan")]}
def infinite(input): return float("inf")
def data(input): return {"raw": b"x"}
def circle(input):
    value = {}
    value["self"] = value
    return value
def key(input): return {(1, 2): 3}
def deep(input):
    value = []
    for _ in range(100000): value = [value]
    return value
def forks(input):
    import os
    child = os.fork()
    if child: os.waitpid(child, 0)
    else: raise ValueError("in the child")
    return "the parent"
def noisy(input):
    import os, sys
    print('{"not": "the result"}')
    print("to the errors", file=sys.stderr)
    os.system("echo from a child")
    return "the result"
`;

const JAVASCRIPT = `
import { rate } from "./helpers.mjs";
import { vat } from "../lib/prices.mjs";
console.log("loaded");
export function whole(input) { return { input, rate, vat }; }
export const later = async (input) => { console.log("waiting"); return [input]; };
export default (input) => ({ default: input });
export function raises() { throw new TypeError("bad order"); }
export async function rejects() { throw new RangeError("too late"); }
export async function outOfHand() { setTimeout(() => { throw new Error("nobody caught this"); }); await new Promise(() => {}); }
export function leaves() { process.exit(3); }
export function leavesWell() { process.exit(0); }
export const never = () => new Promise(() => {});
export const nan = () => ({ list: [1, NaN] });
export const nothing = () => {};
export const holes = () => [undefined];
export const optional = () => ({ a: undefined, at: new Date(0) });
export const big = () => ({ n: 10n ** 300n });
export const circle = () => { const value = {}; value.self = value; return value; };
export const bytes = () => ({ raw: Buffer.from("x") });
export const map = () => new Map([[1, 2]]);
export function* lines() { yield 1; }
export const nested = () => ({ rows: [lines()] });
export async function* stream() { yield 1; }
export const iterator = () => [1].values();
export const callable = () => ({ then: [() => 1] });
export const symbol = () => [Symbol("x")];
export const pattern = () => ({ re: /x/ });
export const invalidDate = () => [new Date(NaN)];
export const caught = () => ({ problem: new Error("kept") });
class Order { constructor() { this.id = 1; } }
export const instance = () => new Order();
export function wraps() { throw new Error("no order", { cause: new TypeError("no shop", { cause: "closed" }) }); }
export const globals = () => [typeof fs, typeof require, typeof module, typeof run, typeof process, typeof fetch];
export const open = () => { setInterval(() => {}, 1000); return "done"; };
export const noisy = () => { console.log('{"not": "the result"}'); console.error("to the errors"); return "the result"; };
`;

const FILES = {
  "scripts/orders.py": PYTHON,
  "scripts/helpers.py": "rate = 3\n",
  "validators/prices.py": "from .vat import vat\n",
  "validators/vat.py": "vat = 19\n",
  "validators/relative.py": "from .vat import vat\ndef check(input): return vat\n",
  "names/json.py": "def check(input): return 'a name of the standard library'\n",
  "names/traceback.py": "raise RuntimeError('not the one that is wanted')\n",
  "names/raises.py": "def check(input): raise ValueError('bad order')\n",
  "scripts/program.py":
    "import json, sys, helpers\nprint('working')\ndata = json.load(sys.stdin)\nprint(json.dumps({'function': sys.argv[1:], 'data': data, 'rate': helpers.rate}))\n",
  "scripts/guarded.py":
    "import json, sys\ndef check(order, strict): return [order, strict]\nif __name__ == '__main__':\n    data = json.load(sys.stdin)\n    print(json.dumps(globals()[sys.argv[1]](data['o'], True), indent=2))\n",
  "scripts/fails.py":
    "import json, sys\njson.load(sys.stdin)\nprint(json.dumps({'why': 'closed'}))\nsys.exit('the shop is closed')\n",
  "scripts/raises.py": "import json, sys\njson.load(sys.stdin)\nraise KeyError('order')\n",
  "scripts/broken.py": "def check(input):\nreturn 1\n",
  "scripts/main.py": "def main(input): return ['main', input]\n",
  "scripts/orders.mjs": JAVASCRIPT,
  "scripts/helpers.mjs": "export const rate = 3;\n",
  "lib/prices.mjs": "export const vat = 19;\n",
  "scripts/old.cjs":
    "const { rate } = require('./rate.cjs');\nmodule.exports = { whole: (input) => ({ input, rate }) };\n",
  "scripts/rate.cjs": "exports.rate = 4;\n",
  "scripts/program.mjs":
    "let text = '';\nfor await (const part of process.stdin) text += part;\nconsole.log('working');\nconsole.log(JSON.stringify({ function: process.argv.slice(2), data: JSON.parse(text) }));\n",
  "scripts/fails.mjs": "process.stdin.resume();\nconst order = undefined;\norder.total;\n",
  "scripts/typed.ts":
    "import { rate } from './helpers.mjs';\nimport type { Order } from './order.ts';\nexport function whole(input: Order): unknown { return { input, rate }; }\n",
  "scripts/order.ts": "export interface Order { readonly id: number }\n",
  "scripts/enum.ts": "enum Color { Red }\nexport function whole(input: unknown) { return Color.Red; }\n",
};

describe.each(["required", "off"] as const)("with the sandbox %s", (mode) => {
  if (mode === "required") needs("bwrap");

  // It looks once at what this machine can do, with programs of its own.
  const executor = createExecutor(createSandbox({ mode }));

  const call = async (language: string, script: string, name?: string, input: Json = { id: 7 }) => {
    return callIn(executor, { language, script, ...(name === undefined ? {} : { function: name }), input });
  };

  test.each<[string, string, string | undefined, Json, Json]>([
    ["python", "scripts/orders.py", "whole", { id: 7 }, { input: { id: 7 }, rate: 3, vat: 19 }],
    ["python", "scripts/orders.py", "by_name", { a: 1, b: 2 }, 3],
    ["python", "scripts/orders.py", "by_name", { a: 1, unused: 2 }, 11],
    ["python", "scripts/orders.py", "only_name", { order: 1, unused: 2 }, 1],
    ["python", "scripts/orders.py", "only_name", { other: 1 }, { other: 1 }],
    ["python", "scripts/orders.py", "rest", { x: 1, y: 2 }, ["x", "y"]],
    ["python", "scripts/orders.py", "nothing", { x: 1 }, "called"],
    ["python", "scripts/orders.py", "later", "grüße 👋", ["grüße 👋"]],
    ["python", "scripts/orders.py", "none", null, null],
    ["python", "scripts/orders.py", "forks", 1, "the parent"],
    ["python", "names/json.py", "check", 1, "a name of the standard library"],
    ["python", "validators/relative.py", "check", 1, 19],
    ["python", "scripts/main.py", undefined, 1, ["main", 1]],
    ["python", "scripts/program.py", "check", [1], { function: ["check"], data: [1], rate: 3 }],
    ["python", "scripts/guarded.py", "check", { o: 1 }, [1, true]],
    ["javascript", "scripts/orders.mjs", "whole", { id: 7 }, { input: { id: 7 }, rate: 3, vat: 19 }],
    ["javascript", "scripts/orders.mjs", "later", "grüße 👋", ["grüße 👋"]],
    ["javascript", "scripts/orders.mjs", undefined, 1, { default: 1 }],
    ["javascript", "scripts/orders.mjs", "optional", 1, { at: "1970-01-01T00:00:00.000Z" }],
    [
      "javascript",
      "scripts/orders.mjs",
      "globals",
      1,
      ["undefined", "undefined", "undefined", "undefined", "object", "function"],
    ],
    ["javascript", "scripts/orders.mjs", "open", 1, "done"],
    ["javascript", "scripts/orders.mjs", "instance", 1, { id: 1 }],
    ["javascript", "scripts/old.cjs", "whole", 1, { input: 1, rate: 4 }],
    ["javascript", "scripts/program.mjs", "check", [1], { function: ["check"], data: [1] }],
    ["typescript", "scripts/typed.ts", "whole", { id: 7 }, { input: { id: 7 }, rate: 3 }],
  ])("%s %s %s of %j gives %j", async (language, script, name, input, output) => {
    expect(outputOf(await call(language, script, name, input))).toEqual(output);
  });

  test.each([
    ["python", "scripts/orders.py", "nan", "the result.list[1] is NaN"],
    ["python", "scripts/orders.py", "infinite", "the result is infinite"],
    ["python", "scripts/orders.py", "data", "the result.raw is of the type bytes"],
    ["python", "scripts/orders.py", "circle", "the result.self contains itself"],
    ["python", "scripts/orders.py", "key", "the result has a key of the type tuple"],
    ["python", "scripts/orders.py", "deep", "nested too deeply"],
    ["python", "scripts/orders.py", "leaves_well", "never returned"],
    ["python", "scripts/orders.py", "no_such_function", "has no function `no_such_function`"],
    ["python", "scripts/main.py", "other", "wrote nothing to standard output"],
    ["javascript", "scripts/orders.mjs", "nan", "the result.list[1] is NaN"],
    ["javascript", "scripts/orders.mjs", "nothing", "the result is undefined"],
    ["javascript", "scripts/orders.mjs", "holes", "the result[0] is undefined"],
    ["javascript", "scripts/orders.mjs", "big", "the result.n is an integer of more than 300 digits"],
    ["javascript", "scripts/orders.mjs", "circle", "the result.self contains itself"],
    ["javascript", "scripts/orders.mjs", "bytes", "the result.raw is bytes"],
    ["javascript", "scripts/orders.mjs", "map", "the result is of the kind Map"],
    ["javascript", "scripts/orders.mjs", "lines", "the result is of the kind Generator"],
    ["javascript", "scripts/orders.mjs", "nested", "the result.rows[0] is of the kind Generator"],
    ["javascript", "scripts/orders.mjs", "stream", "the result is of the kind AsyncGenerator"],
    ["javascript", "scripts/orders.mjs", "iterator", "the result is of the kind Array Iterator"],
    ["javascript", "scripts/orders.mjs", "callable", "the result.then[0] is a function"],
    ["javascript", "scripts/orders.mjs", "symbol", "the result[0] is a symbol"],
    ["javascript", "scripts/orders.mjs", "pattern", "the result.re is of the kind RegExp"],
    ["javascript", "scripts/orders.mjs", "invalidDate", "the result[0] is a Date that is none"],
    ["javascript", "scripts/orders.mjs", "caught", "the result.problem is of the kind Error"],
    ["javascript", "scripts/orders.mjs", "leavesWell", "never returned"],
    ["javascript", "scripts/orders.mjs", "never", "never returned"],
  ])("%s %s %s has no JSON as its result: %s", async (language, script, name, message) => {
    const { outcome } = await call(language, script, name);

    expect(outcome).toMatchObject({
      code: "CODE_RESULT_INVALID",
      message: expect.stringContaining(message),
      effect: "unknown",
    });
  });

  test.each<[string, string, string, string, JsonObject]>([
    ["python", "scripts/orders.py", "raises", "ValueError: bad order", { exception: "ValueError", exit_code: 1 }],
    ["python", "names/raises.py", "check", "ValueError: bad order", { exception: "ValueError" }],
    ["python", "scripts/orders.py", "leaves", "exit code 3", { exit_code: 3 }],
    ["python", "scripts/orders.py", "unknown_field", "'missing', 'other'", { exception: "TypeError" }],
    ["python", "scripts/fails.py", "check", "the shop is closed", { exit_code: 1, output: { why: "closed" } }],
    ["python", "scripts/raises.py", "check", "KeyError: 'order'", { exception: "KeyError", exit_code: 1 }],
    ["javascript", "scripts/orders.mjs", "raises", "TypeError: bad order", { exception: "TypeError" }],
    ["javascript", "scripts/orders.mjs", "rejects", "RangeError: too late", { exception: "RangeError" }],
    ["javascript", "scripts/orders.mjs", "outOfHand", "nobody caught this", { exception: "Error" }],
    ["javascript", "scripts/orders.mjs", "leaves", "exit code 3", { exit_code: 3 }],
    ["javascript", "scripts/fails.mjs", "check", "TypeError: Cannot read", { exception: "TypeError", exit_code: 1 }],
    ["typescript", "scripts/enum.ts", "whole", "write no enum", { exception: "SyntaxError" }],
  ])("%s %s %s fails: %s", async (language, script, name, message, details) => {
    const { outcome } = await call(language, script, name);

    expect(outcome).toMatchObject({
      code: "CODE_FAILED",
      message: expect.stringContaining(message),
      details,
      effect: "unknown",
    });
  });

  test("a traceback shows the script and nothing of the runner", async () => {
    const { outcome } = await call("python", "scripts/orders.py", "raises");
    const { traceback } = (outcome as unknown as { details: { traceback: string } }).details;

    expect(traceback).toContain('raise ValueError("bad order")');
    expect(traceback).not.toContain("<string>");
  });

  test.each([
    [
      "javascript",
      "scripts/orders.mjs",
      "wraps",
      { type: "TypeError", message: "no shop", cause: { type: "string", message: "closed" } },
    ],
    ["python", "scripts/orders.py", "wraps", { type: "ValueError", message: "bad order" }],
    ["python", "scripts/orders.py", "meets", { type: "ValueError", message: "bad order" }],
  ])("%s %s %s says what has led to its failure", async (language, script, name, cause) => {
    const { outcome } = await call(language, script, name);

    expect(outcome).toMatchObject({ details: { cause, traceback: expect.stringContaining(cause.message) } });
  });

  test("a script that cannot be read has had no effect", async () => {
    const { outcome } = await call("python", "scripts/broken.py", "check");

    expect(outcome).toMatchObject({
      code: "CODE_FAILED",
      effect: "none",
      message: expect.stringContaining("IndentationError"),
    });
  });

  test.each([
    ["python", "scripts/orders.py", ["loaded", '{"not": "the result"}', "from a child"]],
    ["javascript", "scripts/orders.mjs", ["loaded", '{"not": "the result"}']],
  ])("what a function in %s prints is its log", async (language, script, printed) => {
    const called = await call(language, script, "noisy");
    const lines = printed.map((text) => ({ type: "stdout", text }));

    expect(outputOf(called)).toBe("the result");
    expect(called.log.filter((event) => (event as JsonObject)["type"] === "stdout")).toEqual(lines);
    expect(called.log).toContainEqual({ type: "stderr", text: "to the errors" });
  });

  test("what a program prints before its last line is its log", async () => {
    expect((await call("python", "scripts/program.py", "check")).log).toEqual([{ type: "stdout", text: "working" }]);
  });
});

async function callIn(executor: Executor<Outcome>, input: JsonObject) {
  return callCode(executor, input, { settings: { folder: makeApplication(FILES) } });
}
