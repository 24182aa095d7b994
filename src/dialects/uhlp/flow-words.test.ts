import { expect, test } from "vitest";
import { answerWith, WebhookReceiver } from "../../../test/fakes/webhook-receiver.ts";
import { fail, type Play, succeed, untilAborted, World } from "../../../test/faults/world.ts";
import { compileSteps } from "../../../test/simulation/uhlp.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import type { Json } from "../../core/json.ts";
import { failExecutor } from "../../executors/fail-executor.ts";
import { createHttpExecutor } from "../../executors/http/http-executor.ts";
import { createOutbound } from "../../executors/outbound/outbound.ts";
import { readRunResult } from "../../operations/runs/read-run-result.ts";
import { loadDefinition } from "../load-definition.ts";

const http = createHttpExecutor({
  outbound: createOutbound({ allow: ["127.0.0.1"] }),
  timeoutMs: 5_000,
  maxBytes: 10_000,
});
const really: Play = (task, signal) => (task.stepId === "r" ? http : failExecutor).run(task, signal);

/** Runs a file on the real host, in memory: what it has called, in order, with what, and how it ended. */
async function run(yaml: string, payload: Json = {}, plays: { readonly [stepId: string]: Play } = {}) {
  const world = new World({ plays });
  const graph = liftControls(await compileSteps(yaml));
  const { id, status, error } = await world.run(graph, { requestData: { source: "internal", payload }, context: {} });
  expect(world.defects).toEqual([]);
  const calls = world.calls.map(({ stepId }) => stepId);
  const inputs = Object.fromEntries(
    world.calls.map(({ stepId, input }) => [stepId, (input as { readonly arguments?: Json }).arguments]),
  );
  return { world, id, status, error, calls, inputs, output: await outputOf(world, id) };
}

async function outputOf(world: World, id: string): Promise<Json | undefined> {
  const { outcome } = await readRunResult(world, await world.recordOf(id));
  return outcome.is === "completed" ? outcome.output : undefined;
}

async function problemsOf(yaml: string) {
  const text = `workflowId: test\nstartAt: a\n${yaml}`;
  return (await loadDefinition({ text })).problems;
}

const CALL = "type: mcp, target: t";

test.each([
  ["trigger.payload.n > 2", { n: 3 }, ["a", "b", "c"]],
  ["trigger.payload.n > 2", { n: 1 }, ["a", "c"]],
  ["trigger.payload.nowhere == true", {}, ["a", "c"]],
  ["length(filter([steps.a.output.name], x => x == 'tea')) == 1", { name: "tea" }, ["a", "b", "c"]],
  ["length(filter([steps.a.output.name], x => x == 'tea')) == 1", { name: "pot" }, ["a", "c"]],
  ["length(filter(trigger.payload.list, x => x > steps.a.output.n)) > 0", { n: 1, list: [2] }, ["a", "b", "c"]],
])("a step is done if %s of %j, and what follows reads null where it is not", async (condition, payload, calls) => {
  const yaml = `steps:
  a: { ${CALL}, inputMapping: { n: trigger.payload.n, name: trigger.payload.name }, transitions: { onSuccess: b } }
  b: { ${CALL}, if: "${condition}", transitions: { onSuccess: c } }
  c: { ${CALL}, inputMapping: { b: "steps.b.output ?? 'none'" }, end: true }
`;
  const echo: Play = ({ input }) => succeed((input as { readonly arguments: Json }).arguments);
  const { calls: made, inputs, status } = await run(yaml, payload, { a: echo, b: () => succeed("done") });
  expect(made).toEqual(calls);
  expect(inputs["c"]).toEqual({ b: calls.includes("b") ? "done" : "none" });
  expect(status).toBe("completed");
});

test("every kind of step may have a condition, also an item's and one that ends the workflow", async () => {
  const yaml = `steps:
  each: { type: control, subtype: loop, list: trigger.payload.list, body: { ${CALL}, condition: item > 1, inputMapping: { n: item } }, transitions: { onSuccess: pause } }
  pause: { type: control, subtype: wait, event: never, if: "false", transitions: { onSuccess: early } }
  early: { type: control, subtype: formatResponse, if: trigger.payload.early == true, data: "'early'", transitions: { onSuccess: no } }
  no: { type: control, subtype: fail, if: trigger.payload.bad == true, code: BAD, transitions: { onSuccess: last } }
  last: { ${CALL}, end: true }
`;
  expect((await run(yaml, { list: [1, 2, 3] }, { no: really })).calls).toEqual(["body", "body", "last"]);
  const early = await run(yaml, { list: [], early: true });
  expect(early).toMatchObject({ calls: [], output: { resultType: "generic", data: "early" } });
  expect(await run(yaml, { list: [], bad: true }, { no: really })).toMatchObject({
    status: "failed",
    error: { code: "BAD" },
  });
});

test("variables are set, read and counted over loops, and output shapes what a run gives", async () => {
  const yaml = `startAt: again
variables: { tries: 0, who: trigger.payload.who, last: null }
output: { tries: vars.tries, who: vars.who, last: vars.last.n, b: steps.b.output }
steps:
  again: { ${CALL}, transitions: { onSuccess: count } }
  count: { type: control, subtype: set, variables: { tries: vars.tries + 1, last: steps.again.output, gone: trigger.payload.gone }, transitions: [{ condition: vars.tries < 3, nextStep: again }, { nextStep: b }] }
  b: { ${CALL}, inputMapping: { before: vars.tries, gone: vars.gone }, transitions: [{ condition: step.output == 'end', end: true }, { end: true }] }
`;
  const { calls, inputs, output } = await run(
    yaml,
    { who: "Ada" },
    { again: () => succeed({ n: 7 }), b: () => succeed("x") },
  );
  expect(calls).toEqual(["again", "again", "again", "b"]);
  expect(inputs["b"]).toEqual({ before: 3, gone: null });
  expect(output).toEqual({ tries: 3, who: "Ada", last: 7, b: "x" });
});

test("a set step's own condition on full values reads what it has just set", async () => {
  const yaml = `steps:
  a: { type: control, subtype: set, variables: { name: trigger.payload.name }, transitions: [{ condition: "length(filter([vars.name], x => x == 'Ada')) == 1", nextStep: b }, { end: true }] }
  b: { ${CALL}, end: true }
`;
  expect((await run(yaml, { name: "Ada" })).calls).toEqual(["b"]);
  expect((await run(yaml, { name: "Bob" })).calls).toEqual([]);
});

test("a failure that ends the workflow is no output", async () => {
  const yaml = `startAt: a\noutput: "'fine'"\nsteps:\n  a: { ${CALL}, transitions: [{ condition: 1 == 1, end: true }] }\n`;
  expect(await run(yaml, {}, { a: () => fail("NO") })).toMatchObject({ status: "failed", error: { code: "NO" } });
  expect((await run(yaml)).output).toBe("fine");
});

test("fail says the status of a route", async () => {
  const yaml = `steps:\n  f: { type: control, subtype: fail, code: NO_STOCK, status: 409, message: "'none'", details: { sku: trigger.payload.sku } }\n`;
  const { world, id } = await run(yaml, { sku: "tea" }, { f: really });
  expect(await world.valuesOf(id, "stepFailed")).toEqual(['{"sku":"tea","statusCode":409}']);
});

test("a request has what the step says, and values in its address are encoded", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(201, { "content-type": "application/json" }, '{"id": 1}'));
  const yaml = `steps:
  r:
    type: http
    target:
      url: "${server.url("/orders/")}\${trigger.payload.id}/lines"
      method: POST
      headers: { X-Who: "no \${trigger.payload.who}", X-N: trigger.payload.n }
      query: { q: "\${trigger.payload.who} & co", list: trigger.payload.list }
      body: { n: trigger.payload.n, text: "'fixed'" }
      auth: { basic: { username: "'Ada'", password: trigger.payload.who } }
      expectedStatus: [201]
    transitions: { onSuccess: b }
  b: { ${CALL}, inputMapping: { id: steps.r.output.body.id, status: steps.r.output.status }, end: true }
`;
  const { inputs, status } = await run(yaml, { id: "../a b", who: "Bob", n: 3, list: [1, 2] }, { r: really });
  expect(server.first).toMatchObject({
    method: "POST",
    path: "/orders/..%2Fa%20b/lines?q=Bob+%26+co&list=1&list=2",
    headers: { "x-who": "no Bob", "x-n": "3", authorization: `Basic ${btoa("Ada:Bob")}` },
    body: '{"n":3,"text":"fixed"}',
  });
  expect(inputs["b"]).toEqual({ id: 1, status: 201 });
  expect(status).toBe("completed");
});

test("a request whose address lacks a value is not sent", async () => {
  const server = await WebhookReceiver.listen();
  const yaml = `steps:\n  r: { type: http, url: "${server.url("/orders/")}\${trigger.payload.id}", method: DELETE, end: true }\n`;
  expect(await run(yaml, {}, { r: really })).toMatchObject({ error: { code: "HTTP_REQUEST_INVALID" } });
  expect(server.received).toEqual([]);
});

test("a request is repeated as its policy says, and its answer is read as the step says", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(500), answerWith(200, { "content-type": "text/plain" }, '{"n": 1}'));
  const yaml = `steps:
  r: { type: http, url: "'${server.url()}'", auth: { bearer: "'abc'" }, response: json, retryPolicy: { maxAttempts: 2, initialDelay: 0 }, transitions: { onSuccess: b } }
  b: { ${CALL}, inputMapping: { n: steps.r.output.body.n }, end: true }
`;
  const { inputs, world, id } = await run(yaml, {}, { r: really });
  expect(inputs["b"]).toEqual({ n: 1 });
  expect(server.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer abc", "Bearer abc"]);
  expect(JSON.stringify([await world.eventsOf(id), await world.valuesOf(id, "stepStarted")])).not.toContain("Bearer");
});

test("an answer that is too large is none", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, {}, "x".repeat(200)));
  const yaml = `steps:\n  r: { type: http, url: "${server.url()}", maxResponseBytes: 100, end: true }\n`;
  expect(await run(yaml, {}, { r: really })).toMatchObject({ error: { code: "OUTPUT_TOO_LARGE" } });
});

test.each([
  ["steps: { a: { type: mcp, target: t, inputMapping: { x: vars.n }, end: true } }", "EXPRESSION_INVALID", "vars.n"],
  [
    "variables: { n: 1 }\nsteps: { a: { type: mcp, target: t, if: vars.m > 1, end: true } }",
    "EXPRESSION_INVALID",
    "vars.m",
  ],
  ["variables: { a-b: 1 }\nsteps: { a: { type: mcp, target: t, end: true } }", "VALUE_INVALID", "a-b"],
  ["steps: { a: { type: control, subtype: set, end: true } }", "KEY_MISSING", "sets nothing"],
  ["steps: { a: { type: control, subtype: fail, code: X, status: 99 } }", "VALUE_INVALID", "status"],
  ["steps: { a: { type: control, subtype: fail, code: X, if: 1 == 2 } }", "KEY_MISSING", "what follows"],
  ["steps: { a: { type: http, target: { method: GET }, end: true } }", "KEY_MISSING", "url"],
  ["steps: { a: { type: http, url: 'http://x/', body: 1, end: true } }", "VALUE_INVALID", "sends no body"],
  ["steps: { a: { type: http, url: 'http://x/$" + "{vars.n}', end: true } }", "EXPRESSION_INVALID", "vars.n"],
  ["steps: { a: { type: http, url: 'http://x/', auth: {}, end: true } }", "KEY_MISSING", "auth"],
  [
    "steps: { a: { type: control, subtype: parallel, branches: { x: { type: mcp, target: t } }, until: first, toleratedFailures: 1, end: true } }",
    "VALUE_INVALID",
    "until: first",
  ],
  ["steps: { a: { type: control, subtype: break } }", "NOT_SUPPORTED", "no body of"],
  [
    "steps: { a: { type: control, subtype: loop, list: trigger.payload, maxConcurrency: 2, body: { type: control, subtype: break }, end: true } }",
    "NOT_SUPPORTED",
    "side by side",
  ],
  [
    "steps: { a: { type: control, subtype: while, body: { type: mcp, target: t }, end: true } }",
    "KEY_MISSING",
    "condition",
  ],
  [
    "steps: { a: { type: control, subtype: try, body: { type: mcp, target: t }, retryPolicy: { condition: true }, end: true } }",
    "NOT_SUPPORTED",
    "by a condition",
  ],
])("refused with its place: %s", async (yaml, code, says) => {
  const [problem] = (await problemsOf(yaml)).filter(({ severity }) => severity === "error");
  expect(problem).toMatchObject({ code, message: expect.stringContaining(says) });
});

const ROUNDS = (more: string) => `startAt: go
variables: { n: 0 }
steps:
  go: { type: control, subtype: while, condition: "${more}", maxIterations: 5, body: { startAt: ask, steps: { ask: { ${CALL}, transitions: { onSuccess: count } }, count: { type: control, subtype: set, variables: { n: vars.n + 1 }, transitions: [{ condition: vars.n == 3 && trigger.payload.leaves == true, nextStep: out }, { condition: vars.n == 1 && trigger.payload.skips == true, nextStep: on }, { nextStep: tell }] }, out: { type: control, subtype: break }, on: { type: control, subtype: continue }, tell: { ${CALL}, inputMapping: { n: vars.n } } } }, transitions: { onSuccess: end } }
  end: { ${CALL}, inputMapping: { last: steps.go.output, n: vars.n }, end: true }
`;

test.each([
  ["vars.n < 2", {}, 2],
  ["length(filter([vars.n], x => x < 2)) > 0", {}, 2],
  ["step.output == null || step.output != 'told 2'", {}, 2],
  ["vars.n < 0", {}, 0],
  ["true", { leaves: true }, 3],
])("while %s with %j goes round", async (condition, payload, rounds) => {
  const tell: Play = ({ input }) =>
    succeed(`told ${String((input as { readonly arguments: { readonly n: number } }).arguments.n)}`);
  const { calls, inputs } = await run(ROUNDS(condition), payload, { tell });
  expect(calls.filter((id) => id === "ask")).toHaveLength(rounds);
  expect(inputs["end"]).toMatchObject({ n: rounds });
});

test("continue ends a round, and a while that goes round for ever fails", async () => {
  const { calls } = await run(ROUNDS("vars.n < 2"), { skips: true });
  expect(calls).toEqual(["ask", "ask", "tell", "end"]);
  const { error } = await run(ROUNDS("true"));
  expect(error).toMatchObject({ code: "MAX_VISITS", message: expect.stringContaining("after 5 rounds") });
});

test("break leaves a loop, whose other items are not begun", async () => {
  const yaml = `steps:
  l: { type: control, subtype: loop, list: trigger.payload, body: { startAt: ask, steps: { ask: { ${CALL}, transitions: [{ condition: item == 2, nextStep: out }, { end: true }] }, out: { type: control, subtype: break } } }, transitions: { onSuccess: b } }
  b: { ${CALL}, inputMapping: { all: steps.l.output }, end: true }
`;
  const { calls, inputs } = await run(yaml, [1, 2, 3, 4], { ask: () => succeed("x") });
  expect(calls).toEqual(["ask", "ask", "b"]);
  expect(inputs["b"]).toEqual({ all: ["x", null, null, null] });
});

test.each([
  ["onCodes: [BUSY]", { code: "BUSY", retryable: false }, 3],
  ["onCodes: [BUSY]", { code: "OTHER", retryable: true }, 1],
  ["condition: error.details.status >= 500", { code: "X", details: { status: 503 } }, 3],
  ["condition: error.details.status >= 500", { code: "X", retryable: true, details: { status: 404 } }, 1],
  ["condition: step.attempt < 2", { code: "X" }, 2],
  ["onCodes: [X], condition: \"trigger.payload.again == true && error.message == 'X happened.'\"", { code: "X" }, 3],
])("a step is repeated by code and condition: %s after %j", async (policy, { code, ...failure }, tries) => {
  const yaml = `steps:\n  a: { ${CALL}, retryPolicy: { maxAttempts: 3, initialDelay: 0, ${policy} }, end: true }\n`;
  const { calls, status } = await run(yaml, { again: true }, { a: () => fail(code, failure) });
  expect(calls).toHaveLength(tries);
  expect(status).toBe("failed");
});

test("a block is repeated by code", async () => {
  const yaml = (code: string) =>
    `steps:\n  a: { type: control, subtype: try, body: { ${CALL} }, retryPolicy: { initialDelay: 0, onCodes: [${code}] }, end: true }\n`;
  expect((await run(yaml("BUSY"), {}, { body: () => fail("BUSY") })).calls).toHaveLength(3);
  expect((await run(yaml("OTHER"), {}, { body: () => fail("BUSY") })).calls).toHaveLength(1);
});

const PARALLEL = (keys: string, last = "steps.p.output") => `steps:
  p: { type: control, subtype: parallel, branches: [a, b, c], ${keys}, transitions: { onSuccess: end } }
  a: { ${CALL} }
  b: { ${CALL} }
  c: { ${CALL} }
  end: { ${CALL}, inputMapping: { all: "${last}" }, end: true }
`;
const no: Play = () => fail("NO");
const stuck: Play = async (_, signal) => {
  await untilAborted(signal);
  return fail("STOPPED");
};

test.each([
  ["maxConcurrency: 2", {}, { a: 1, b: 2, c: 3 }],
  ["maxConcurrency: 1, continueOnError: true", { b: no }, { a: 1, b: null, c: 3 }],
  ["toleratedFailures: 1", { b: no }, { a: 1, b: null, c: 3 }],
  ["toleratedFailures: 40%, maxConcurrency: 2", { c: no }, { a: 1, b: 2, c: null }],
  ["until: firstSuccess", { a: no, b: stuck }, 3],
  ["until: firstSuccess, maxConcurrency: 1", { a: no }, 2],
  ["until: first", { a: stuck, c: stuck }, 2],
])("parallel with %s gives what it should", async (keys, plays, all) => {
  const given = { a: () => succeed(1), b: () => succeed(2), c: () => succeed(3) };
  const { inputs, status } = await run(PARALLEL(keys), {}, { ...given, ...plays });
  expect(inputs["end"]).toEqual({ all });
  expect(status).toBe(JSON.stringify(all).includes("null") ? "partial" : "completed");
});

test.each([
  ["toleratedFailures: 1", { a: no, b: no }],
  ["toleratedFailures: 20%", { a: no }],
  ["until: firstSuccess", { a: no, b: no, c: no }],
  ["until: first", { a: stuck, b: no, c: stuck }],
  ["maxConcurrency: 2", { b: no }],
])("parallel with %s fails", async (keys, plays) => {
  const { status, error } = await run(PARALLEL(keys), {}, plays);
  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "NO" });
});

test("parallel runs as many blocks at once as it may", async () => {
  let running = 0;
  let most = 0;
  const busy: Play = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return succeed("x");
  };
  await run(PARALLEL("maxConcurrency: 2"), {}, { a: busy, b: busy, c: busy });
  expect(most).toBe(2);
});

test("a loop takes as many failures as it says, by share too", async () => {
  const yaml = (tolerated: string) =>
    `steps:\n  l: { type: control, subtype: loop, list: trigger.payload, toleratedFailures: ${tolerated}, body: { ${CALL}, inputMapping: { n: item } }, end: true }\n`;
  const body: Play = ({ input }) =>
    ((input as { readonly arguments: { readonly n: number } }).arguments.n > 2 ? no : () => succeed("x") as never)(
      undefined as never,
      undefined as never,
    );
  expect((await run(yaml("25%"), [1, 2, 3, 1], { body })).output).toEqual(["x", "x", null, "x"]);
  expect((await run(yaml("25%"), [1, 3, 3, 1], { body })).status).toBe("failed");
  expect((await run(yaml("2"), [1, 3, 3, 1], { body })).status).toBe("partial");
});

test("a field that a step's output cannot have is an error: by its schema, by the names it is given, and of a request", async () => {
  const steps = `
steps:
  a:
    type: llm
    target: {prompt: Say, outputSchema: {type: object, properties: {summary: {type: string}}}}
    transitions: {onSuccess: b}
  b: {type: mcp, target: core.state.getRuntimeValue, outputMapping: {total: step.output}, transitions: {onSuccess: c}}
  c: {type: http, url: "'https://a.example'", transitions: {onSuccess: d}}
  d: {type: control, subtype: set, variables: {left: "1"}, transitions: {onSuccess: e}}
  e: {type: control, subtype: formatResponse, data: {READS}}
`;
  const findings = async (reads: string, top = "") =>
    (await problemsOf(top + steps.replace("READS", reads))).map(({ message, remedy }) => `${message} ${remedy}`);
  const wrong = "p: steps.a.output.sumary, q: steps.b.output.text, r: $.steps.c.boddy, s: steps.d.output.lefft";
  expect(await findings(wrong)).toEqual([
    "The output of `a` does not declare `sumary`. Did you mean `summary`?",
    expect.stringContaining("The output of `b` does not declare `text`."),
    "The output of `c` does not declare `boddy`. Did you mean `body`?",
    "The output of `d` does not declare `lefft`. Did you mean `left`?",
  ]);
  // A value may hold more than its schema declares, and so may a body.
  const right =
    "p: steps.a.output.other, q: steps.b.output.total.text, r: steps.c.output.body.id, s: steps.d.output.left, t: steps.b.output.error.code";
  expect(await findings(right)).toEqual([]);
  expect(await findings(wrong, "references: lenient\n")).toEqual([]);
});
