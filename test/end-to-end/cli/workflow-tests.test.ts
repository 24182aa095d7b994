import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const SHIPPING = `
name: shipping
steps:
  - {id: stock, type: http, url: "https://shop.example/stock?sku={input.sku}"}
  - {id: score, depends_on: [stock], prompt: "Rate {steps.stock.output}.", output_schema: {type: object, properties: {score: {type: integer}}, required: [score]}}
  - {id: agree, type: approval, depends_on: [score], approval_config: {message: "Ship?"}}
  - {id: later, type: wait, depends_on: [agree], duration: 2d}
  - {id: ship, type: http, url: "https://shop.example/ship", depends_on: [later], retry: {max_attempts: 3, backoff: exponential}}
`;

const SCRIPT =
  "steps: {stock: {reply: {left: 3}}, score: {reply: {score: 90}}, ship: [{fail: TIMEOUT}, {reply: {done: true}}]}";

test("a workflow is tested without anything outside, with its people, its retries and days that pass at once", async () => {
  const cwd = application({
    "workflows/shipping.yaml": SHIPPING,
    "workflows/shipping.test.yaml": `
cases:
  ships after a yes:
    input: {sku: 7}
    ${SCRIPT}
    answers: {agree: approve}
    expect:
      ran: [stock, score, agree, ship]
      calls: {ship: 2, stock: 1}
      inputs: {stock: {url: "https://shop.example/stock?sku=7"}}
      outputs: {ship: {done: true}}
      max_cost_usd: 0.02
  a no is the end:
    ${SCRIPT}
    answers: {agree: {answer: reject, comment: too dear}}
    expect: {status: failed, error: APPROVAL_REJECTED, not_run: [ship, later]}
`,
  });
  const { code, stdout, stderr } = await pawl(["test", "--junit", "junit.xml"], { cwd });
  expect(stderr).toBe("");
  expect(stdout).toContain("5 of 5 steps ran");
  expect(stdout).toContain("2 passed, 0 failed");
  expect(code).toBe(0);
  expect(readFileSync(join(cwd, "junit.xml"), "utf8")).toContain('tests="2" failures="0"');
  // It left no data behind, and a file of tests is no workflow.
  expect(existsSync(join(cwd, ".pawl"))).toBe(false);
  expect((await pawl(["workflows", "ls"], { cwd })).stdout).not.toContain("test");
});

test("what does not hold is said, also that a run waits for ever and that a step would reach outside", async () => {
  const cwd = application({
    "shipping.yaml": SHIPPING,
    "shipping.test.yaml": `
cases:
  unscripted: {}
  no one answers: {${SCRIPT.replace("steps", "steps")}}
  wrong:
    ${SCRIPT}
    answers: {agree: approve}
    expect: {outputs: {ship: {done: false, more: 1}}, max_cost_usd: 0, ran: [ship, stock], not_run: [agree], calls: {ship: 1}, inputs: {stock: {url: x}}}
`,
  });
  const { code, stdout } = await pawl(["test", "shipping.test.yaml"], { cwd });
  expect(code).toBe(1);
  for (const line of [
    "STEP_NOT_SCRIPTED",
    "it waits for an answer to `agree` (`answers`)",
    "outputs.ship.done: true, and not false",
    "and not at most $0",
    "outputs.ship.more: nothing (there is done), and not 1",
    "ran: `stock` did not, or not after the one before it",
    "not_run: `agree` ran",
    "calls.ship: 2, and not 1",
    'inputs.stock.url: "https://shop.example/stock?sku=',
    "0 passed, 3 failed",
  ])
    expect(stdout).toContain(line);
});

test("the other dialects are tested as well, with events and programs; settings of a server count for nothing", async () => {
  const cwd = application({
    ".env":
      "DATABASE_URL=postgresql://nobody@127.0.0.1:1/none\nREDIS_URL=redis://127.0.0.1:1\nRESTATE_URL=http://127.0.0.1:1\n",
    "pay.yaml": `
workflowId: pay
startAt: wait
steps:
  wait: {type: control, subtype: wait, event: payment, transitions: {onSuccess: look}}
  look: {type: mcp, target: shop.look, inputMapping: {amount: steps.wait.output.amount}, transitions: [{condition: step.output.fits, nextStep: good}, {nextStep: bad}]}
  good: {type: mcp, target: shop.book, end: true}
  bad: {type: mcp, target: shop.refund, end: true}
`,
    "pay.test.yaml": `
cases:
  fits:
    events: {payment: {amount: 20}}
    kinds: {mcp: {reply: {fits: true}}}
    expect: {ran: [wait, look, good], not_run: [bad], inputs: {look: {arguments: {amount: 20}}}}
`,
    "double.ts": `
import { run, workflow } from "pawl";
import { z } from "zod";
export const double = workflow("double", { input: z.object({ n: z.number() }) }, ({ input }) => {
  const twice = run("twice", { n: input.n }, ({ n }) => n * 2);
  return run("send", { twice }, async () => { throw new Error("really called"); });
});
`,
    "double.test.yaml": `
workflow: double.ts
cases:
  doubles:
    input: {n: 4}
    steps: {send: {reply: sent}}
    expect: {outputs: sent, inputs: {send: {twice: 8}}}
`,
  });
  mkdirSync(join(cwd, "node_modules"));
  const here = fileURLToPath(new URL("../../..", import.meta.url));
  symlinkSync(here, join(cwd, "node_modules/pawl"));
  symlinkSync(join(here, "node_modules/zod"), join(cwd, "node_modules/zod"));
  const { code, stdout } = await pawl(["test", "--json"], { cwd });
  expect(JSON.parse(stdout).data.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    [{ name: "doubles", passed: true, failures: [] }],
    [{ name: "fits", passed: true, failures: [] }],
  ]);
  expect(code).toBe(0);
});

test("steps of loops and of what catches failures count as steps that no case has run", async () => {
  const cwd = application({
    "inner.yaml": `
workflowId: inner
startAt: all
steps:
  all:
    type: control
    subtype: loop
    list: trigger.payload.list
    body:
      startAt: ask
      steps:
        ask: {type: http, url: "https://x.example/", transitions: {onSuccess: end, onFailureDefault: other}}
        other: {type: http, url: "https://x.example/other"}
        end: {type: control, subtype: set, variables: {done: true}}
    transitions: {onSuccess: try}
  try: {type: control, subtype: try, body: {type: http, url: "https://x.example/"}, catch: {type: http, url: "https://x.example/"}, end: true}
`,
    "inner.test.yaml": "cases: {good: {input: {list: [1]}, kinds: {http: {reply: {status: 200}}}}}\n",
  });
  const { stdout } = await pawl(["test"], { cwd });
  expect(stdout).toContain("5 of 7 steps ran; not: all/item/other, try~catch/catch");
});

test("transitions, conditions and ways out of a failure that no case has taken are listed in each dialect, in the words of the file", async () => {
  const cwd = application({
    "choose.yaml": `
workflowId: choose
startAt: ask
steps:
  ask: {type: http, url: "https://x.example/", if: "some(trigger.payload.list, x => x > 1)", transitions: [{condition: step.output.more, nextStep: all}, {nextStep: end}]}
  all:
    type: control
    subtype: loop
    list: trigger.payload.list
    continueOnError: true
    body: {startAt: one, steps: {one: {type: http, url: "https://x.example/", transitions: {onSuccess: two, onFailureDefault: two}}, two: {type: http, url: "https://x.example/"}}}
    transitions: {onSuccess: end}
  end: {type: control, subtype: set, variables: {done: true}, if: trigger.payload.done, end: true}
`,
    "choose.test.yaml": `
cases:
  some: {input: {list: [1, 2]}, steps: {ask: {reply: {more: true}}, one: {reply: {}}, two: {items: [{reply: {}}, {fail: TIMEOUT}]}}, expect: {status: partial}}
  none: {input: {list: []}, kinds: {http: {reply: {more: true}}}}
`,
    "score.yaml": `
name: score
steps:
  - {id: look, type: http, url: "https://x.example/", retry: {max_attempts: 1, on_failure: skip}}
  - {id: rate, prompt: "Rate.", retry: {max_attempts: 1, on_failure: fallback}, fallback: {prompt: "Rate again."}}
`,
    "score.test.yaml":
      "cases: {fails: {steps: {look: {fail: TIMEOUT}, rate: {reply: good}}, expect: {status: partial}}}\n",
    "say.json": JSON.stringify({
      name: "say",
      initial_state: "A",
      states: {
        A: {
          action: { tool: "get_screen_content", params: { session_id: "s" } },
          transitions: [
            { condition: { success: true }, next_state: "B" },
            { condition: { success: false }, next_state: "C" },
          ],
        },
        B: { action: { tool: "get_screen_content", params: { session_id: "s" } } },
        C: { action: { tool: "get_screen_content", params: { session_id: "s" } } },
      },
    }),
    "say.test.yaml": "workflow: say.json\ncases: {good: {kinds: {terminal: {reply: {success: true}}}}}\n",
    "vip.ts": `
import { each, loop, run, when, workflow } from "pawl";
import { z } from "zod";
export const vip = workflow("vip", { input: z.object({ list: z.array(z.object({ vip: z.boolean() })) }) }, ({ input }) => {
  each(input.list, (item) => when(item.vip, () => run("greet", {}, () => 1), () => run("pass", {}, () => 2)));
  return loop("twice", { max: 2, first: 0 }, (was) => ({ next: run("add", { was }, ({ was }) => was + 1), done: false }));
});
`,
    "vip.test.yaml": "workflow: vip.ts\ncases: {plain: {input: {list: [{vip: false}]}}}\n",
  });
  mkdirSync(join(cwd, "node_modules"));
  const here = fileURLToPath(new URL("../../..", import.meta.url));
  symlinkSync(here, join(cwd, "node_modules/pawl"));
  symlinkSync(join(here, "node_modules/zod"), join(cwd, "node_modules/zod"));
  const { stdout } = await pawl(["test", "--json", "--junit", "junit.xml"], { cwd });
  const [choose, say, score, vip] = JSON.parse(stdout).data;
  for (const { cases } of [choose, say, score, vip]) for (const { failures } of cases) expect(failures).toEqual([]);
  // What `ask` and its condition do, both ways, two cases have taken together; items of a loop are skipped one by one.
  expect(choose).toMatchObject({
    transitions: 11,
    untaken: ["all/item/one -> two on failure", "end if trigger.payload.done"],
  });
  expect(score).toMatchObject({ transitions: 2, untaken: ["rate -> catch on failure"] });
  expect(say).toMatchObject({ transitions: 2, untaken: ['A -> C if {"success":false}'] });
  expect(vip).toMatchObject({
    transitions: 4,
    untaken: ["each/item/when if its condition holds", "each/item/when-else unless its condition holds"],
  });
  const junit = readFileSync(join(cwd, "junit.xml"), "utf8");
  expect(junit).toContain("<system-out>  2 of 3 steps ran; not: rate~catch/fallback\n  1 of 2 transitions taken; not:");
  expect((await pawl(["test", "score.test.yaml"], { cwd })).stdout).toContain(
    "  1 of 2 transitions taken; not:\n      rate -> catch on failure\n",
  );
});

test("a case goes on after a death between any two events, in each dialect, with its answers and events on record alone", async () => {
  const cwd = application({
    "ship.yaml": SHIPPING.replace("backoff: exponential", "initial_delay: 0s").replace(
      ", retry: {max_attempts: 3, initial_delay: 0s}",
      "",
    ),
    "ship.test.yaml": `
cases:
  ships:
    input: {sku: 7}
    ${SCRIPT.replace("[{fail: TIMEOUT}, {reply: {done: true}}]", "{reply: {done: true}}")}
    answers: {agree: approve}
    expect: {ran: [stock, score, agree, ship], calls: {ship: 1, stock: 1}, outputs: {ship: {done: true}}}
`,
    "pay.yaml": `
workflowId: pay
startAt: wait
steps:
  wait: {type: control, subtype: wait, event: payment, transitions: {onSuccess: book}}
  book: {type: mcp, target: shop.book, inputMapping: {amount: steps.wait.output.amount}, transitions: {onSuccess: pay}}
  pay: {type: mcp, target: shop.pay, atMostOnce: true, end: true}
`,
    "pay.test.yaml":
      "cases: {pays: {events: {payment: {amount: 20}}, kinds: {mcp: {reply: 1}}, expect: {ran: [wait, book, pay]}}}\n",
    "twice.ts": `
import { appendFileSync, readFileSync } from "node:fs";
import { run, workflow } from "pawl";
export const twice = workflow("twice", {}, () => {
  const first = run("first", {}, () => 1);
  return run("count", { first }, () => {
    appendFileSync("effects.txt", ".");
    return readFileSync("effects.txt", "utf8").length;
  });
});
`,
    "twice.test.yaml": "workflow: twice.ts\ncases: {counts: {}}\n",
  });
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(fileURLToPath(new URL("../../..", import.meta.url)), join(cwd, "node_modules/pawl"));
  const { code, stdout } = await pawl(["test", "--kill", "--json", "--junit", "junit.xml"], { cwd });
  expect(code).toBe(1);
  const [pay, ship, twice] = JSON.parse(stdout).data.map(({ cases }: { cases: unknown[] }) => cases[0]);
  expect(pay).toMatchObject({ passed: true, kills: { again: ["book (mcp)"], interrupted: ["pay#1"] } });
  expect(ship).toMatchObject({ passed: true, kills: { again: ["stock (http)", "score (agent)", "ship (http)"] } });
  for (const { tried, places } of [pay.kills, ship.kills]) {
    expect(tried).toBe(places);
    expect(tried).toBeGreaterThan(4);
  }
  // Its effect is done once more, and gives something else: only a death shows that.
  expect(twice.passed).toBe(false);
  expect(twice.failures.join("\n")).toMatch(/^killed after event \d+ \(.*\): outputs: \d+, and not 1$/m);
  expect(readFileSync(join(cwd, "junit.xml"), "utf8")).toContain("asked again, under the same idempotency key");
});

test("the clock of a test jumps over reminders and an escalation, and a death between them repeats none", async () => {
  const rules = "reminder: {after: 1d, times: 3}, escalation: {after: 2d, to: boss}, timeout: 5d, onTimeout: skip";
  const cwd = application({
    "ask.yaml": `
workflowId: ask
startAt: ask
steps:
  ask: {type: control, subtype: approval, message: "'Go?'", ${rules}, transitions: {onSuccess: tell}}
  tell: {type: control, subtype: formatResponse, data: {said: steps.ask.output}}
`,
    "ask.test.yaml": `
cases:
  nobody answers: {expect: {ran: [ask, tell], outputs: {data: {said: null}}}}
  somebody does: {answers: {ask: approve}, expect: {ran: [ask, tell], outputs: {data: {said: {approved: true}}}}}
  after the escalation: {answers: {ask: {answer: approve, after: 3d}}, expect: {outputs: {data: {said: {approved: true}}}}}
  too late: {answers: {ask: {answer: approve, after: 6d}}, expect: {outputs: {data: {said: null}}}}
`,
  });
  const { code, stdout } = await pawl(["test", "--kill", "--json"], { cwd });
  const [{ cases }] = JSON.parse(stdout).data;
  expect(cases.map(({ failures }: { failures: unknown }) => failures)).toEqual([[], [], [], []]);
  expect(code).toBe(0);
  // Three reminders, the escalation and the end of the question are places where it may die.
  expect(cases[0].kills.tried - cases[1].kills.tried).toBeGreaterThanOrEqual(4);
  // An answer that takes its time comes after three of them, and one that comes too late is none.
  expect(cases[2].kills.tried - cases[1].kills.tried).toBeGreaterThanOrEqual(3);
  expect(cases[3].kills.tried).toBe(cases[0].kills.tried);
});

test("names that no step, event or kind of work has fail the case, since what they say would hold of anything", async () => {
  const cwd = application({
    "pay.yaml": `
workflowId: pay
startAt: ask
steps:
  ask: {type: control, subtype: approval, message: "'Go?'", transitions: {onSuccess: pay}}
  pay: {type: http, url: "https://x.example/", transitions: {onSuccess: wait}}
  wait: {type: control, subtype: wait, event: paid, transitions: {onSuccess: done}}
  done: {type: control, subtype: set, variables: {a: 1}, end: true}
`,
    "pay.test.yaml": `
cases:
  wrong:
    steps: {pya: {reply: 1}, pay: {reply: 1}}
    answers: {ask: approve, aks: reject, "100%": reject}
    events: {paid: 1, payd: 2}
    expect: {not_run: [dnoe], calls: {refund: 0}, ran: ["wait#1", done]}
`,
    "call.yaml": `
workflowId: call
startAt: first
steps:
  first: {type: control, subtype: subworkflow, workflowId: pay.yaml, transitions: {onSuccess: later, onFailureDefault: end}}
  later: {type: control, subtype: subworkflow, workflowId: pay.yaml, end: true}
  end: {type: control, subtype: set, variables: {a: 1}, end: true}
`,
    "call.test.yaml":
      "cases: {fails: {steps: {pay: {fail: X}, unknown: {reply: 1}}, answers: {first/ask: approve, ask: approve}, expect: {ran: [first/pay, end]}}}\n",
    "kinds.test.yaml": "workflow: pay.yaml\ncases: {a: {kinds: {agent: {reply: 1}}}}\n",
  });
  const wrong = await pawl(["test", "pay.test.yaml", "--json"], { cwd });
  expect(JSON.parse(wrong.stdout).data[0].cases[0].failures).toEqual([
    "steps: there is no step `pya`. Did you mean `pay`?",
    "answers: there is no step `aks`. Did you mean `ask`?",
    "answers: there is no step `100%`. `pawl graph` shows what there is.",
    "events: there is no event `payd`. Did you mean `paid`?",
    "expect: there is no step `dnoe`. Did you mean `done`?",
    "expect: there is no step `refund`. `pawl graph` shows what there is.",
  ]);
  // A step that was not called may have any.
  expect((await pawl(["test", "call.test.yaml"], { cwd })).stdout).toContain("1 passed, 0 failed");
  const kinds = await pawl(["test", "kinds.test.yaml"], { cwd });
  expect(kinds.stderr).toContain("kinds.test.yaml:2:21 `kinds` cannot be `agent`; it is one of code, function, http");
  expect(kinds.code).toBe(2);
});

test("a file of tests that cannot be read is refused with its places before anything runs", async () => {
  const cwd = application({ "a.test.yaml": "cases:\n  one:\n    step: {a: {reply: 1}}\n    expect: {status: done}\n" });
  const { code, stdout, stderr } = await pawl(["test"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("a.test.yaml:3:5 `step` means nothing");
  expect(stderr).toContain("Did you mean `steps`?");
  expect(stderr).toContain("a.test.yaml:4:22 `status` cannot be `done`");
  expect(stdout).toBe("");
  expect(readdirSync(cwd)).toEqual(["a.test.yaml"]);
  expect((await pawl(["test"], { cwd: application({}) })).stderr).toContain("The application has no tests.");
});
