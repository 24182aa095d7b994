import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { ask, fail, type Play, succeed, World, type WorldOptions } from "../../../../test/faults/world.ts";
import { MemoryFileStorage } from "../../../../test/support/memory/memory-file-storage.ts";
import { Regexes } from "../../../app/regexes.ts";
import type { Graph, RetryPolicy, Step, TaskStep } from "../../../core/graph/graph.ts";
import type { Policy } from "../../../core/graph/policy.ts";

const MAIL = "ada@example.com";
const HIDE: Policy = { id: "hide", when: { patterns: [{ kind: "email" }] }, action: "redact" };
const BLOCK: Policy = { id: "no-mail", when: { patterns: [{ kind: "email" }] }, action: "block" };
const REVIEW: Policy = { id: "review", when: { patterns: [{ kind: "email" }] }, action: "approve" };
const TELL: Policy = { id: "tell", when: { contains: ["ada"] }, action: "alert", webhook: "https://example.com/told" };

const RETRY: RetryPolicy = { maxAttempts: 3, backoff: "fixed", initialMs: 1, maxMs: 1, jitter: 0 };

const regexes = new Regexes();

function graphWith(policies: readonly Policy[], more: Partial<TaskStep> = {}): Graph {
  return toGraph([{ ...agentTask("a"), policies, ...more }]);
}

function worldOf(play: Play, options: WorldOptions = {}): World {
  const findAll = (text: string, pattern: string) => regexes.findAll(text, pattern);
  return new World({ ...options, plays: { a: play }, host: { findAll, ...options.host } });
}

/** All that was written: events, their values, files and what is to be told. */
async function everythingOf(world: World, runId: string): Promise<string> {
  const { no } = await world.recordOf(runId);
  const rows = await world.journal.readEvents(no, { afterSeq: 0, limit: 1_000 });
  const values = await Promise.all(rows.map(({ seq }) => world.journal.readValue(no, seq)));
  const outbox = await world.journal.readOutbox({ kind: "webhook", limit: 100 });
  return JSON.stringify([rows, values, outbox]);
}

function noted(texts: string[], text: string): undefined {
  texts.push(text);
}

test("what is redacted is in no event, value, log, record, question, file or notice; what was found is counted", async () => {
  const files = new MemoryFileStorage();
  const written: string[] = [];
  const play: Play = async (task) => {
    task.emit({ type: "log", event: { type: "text", text: `found ${MAIL}` } });
    task.emit({ type: "live", event: { type: "piece", text: MAIL.slice(0, 6) } });
    await task.record("turn", { said: [MAIL] });
    const answer = await task.recorded("ok?");
    if (answer === undefined) return ask("ok?", { message: `May ${MAIL} be told?`, show: { to: MAIL } });
    const content = new TextEncoder().encode(`Dear ${MAIL}`);
    return { ...succeed({ [MAIL]: [`To: ${MAIL}`] }), files: [{ name: "letter.txt", content }] };
  };
  const world = worldOf(play, { files });
  const graph = graphWith([{ ...HIDE, replacement: 'a "b' }]);
  const { id } = await world.start(graph);
  const notices = world.notices(id);
  await world.host.settled(id);
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  await world.host.settled(id);

  expect(await world.recordOf(id)).toMatchObject({ status: "completed" });
  expect(await world.outputOf(id, "a")).toEqual({ 'a "b': ['To: a "b'] });
  for (const file of await files.list("")) written.push(new TextDecoder().decode(await files.read(file.path)));
  expect(written).toEqual(['Dear a "b']);
  const everything = `${await everythingOf(world, id)}${JSON.stringify(notices)}`;
  expect(everything).toContain("found a");
  expect(everything).not.toContain("ada@");
  expect(everything).not.toContain('"piece"');
  expect(await world.eventsOf(id)).toContainEqual(
    expect.objectContaining({
      type: "stepSucceeded",
      policies: [{ policy: "hide", action: "redact", found: { email: 2 }, why: "it contains email (2)" }],
    }),
  );
});

test("what is redacted is in no error either, whatever stands in its place", async () => {
  const failed = { message: `no ${MAIL}`, details: { [`"${MAIL}"`]: [MAIL] } };
  const world = worldOf(() => fail("BAD", failed));
  const { id } = await world.run(graphWith([{ ...HIDE, replacement: '"}' }]));
  expect(await world.recordOf(id)).toMatchObject({ status: "failed", error: { code: "BAD" } });
  const everything = await everythingOf(world, id);
  expect(everything).toContain('no \\"}');
  expect(everything).not.toContain("ada@");
});

test("a blocked output fails the step for good, is not written, and is paid for", async () => {
  const world = worldOf(() => succeed(MAIL, 5));
  const { id } = await world.run(graphWith([BLOCK], { retry: RETRY }));
  expect(await world.recordOf(id)).toMatchObject({ status: "failed", costMicro: 5, error: { code: "POLICY_BLOCKED" } });
  expect(world.calls).toHaveLength(1);
  expect(await everythingOf(world, id)).not.toContain("ada@");
});

test("an output waits for a person, who sees why and not what; a yes uses it, even of another process, and asks nothing again", async () => {
  const findAll = () => [];
  const world = worldOf(() => succeed({ mail: MAIL }, 5), { host: { findAll } });
  const graph = graphWith([REVIEW, TELL]);
  const { id } = await world.run(graph);
  expect(await world.recordOf(id)).toMatchObject({ status: "awaiting_approval" });
  const [shown = ""] = await world.valuesOf(id, "approvalAsked");
  expect(JSON.parse(shown)).toEqual({
    policy: "review",
    why: "it contains email (1)",
    output: { mail: "[email]" },
  });
  expect(await world.journal.readOutbox({ kind: "webhook", limit: 10 })).toHaveLength(1);

  await world.host.park(AbortSignal.abort());
  const calls: string[] = [];
  const next = world.next({ plays: {}, host: { findAll: (text) => noted(calls, text) } });
  await next.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  await next.host.settled(id);
  expect(await next.recordOf(id)).toMatchObject({ status: "completed", costMicro: 5 });
  expect(await next.outputOf(id, "a")).toEqual({ mail: MAIL });
  expect(next.calls).toEqual([]);
  expect(calls).toEqual([]);
});

test("what a person writes in its place is redacted and blocked as the step's own", async () => {
  for (const [policy, status] of [[HIDE, "completed"] as const, [BLOCK, "failed"] as const]) {
    const world = worldOf(() => succeed("please look"));
    const looks: Policy = { id: "look", when: { contains: ["LOOK"] }, action: "approve" };
    const { id } = await world.run(graphWith([looks, policy]));
    await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve", edited: `look: ${MAIL}` } });
    await world.host.settled(id);
    expect(await world.recordOf(id)).toMatchObject({ status });
    if (status === "completed") expect(await world.outputOf(id, "a")).toBe("look: [email]");
  }
});

test("a no fails the step with what the person said; a skip leaves it empty", async () => {
  const world = worldOf(() => succeed(MAIL));
  const { id } = await world.run(graphWith([REVIEW]));
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "reject", comment: "private" } });
  await world.host.settled(id);
  expect(await world.recordOf(id)).toMatchObject({
    status: "failed",
    error: { code: "POLICY_REJECTED", message: expect.stringContaining("private") },
  });

  const other = worldOf(() => succeed(MAIL));
  const { id: skipped } = await other.run(graphWith([REVIEW]));
  await other.host.request(skipped, { type: "answer", path: "a", answer: { answer: "skip" } });
  await other.host.settled(skipped);
  expect(await other.recordOf(skipped)).toMatchObject({ status: "completed" });
  expect(await other.outputOf(skipped, "a")).toBeUndefined();
});

test("an alert lets the output through, and is told in the commit of the outcome: to its address, else to the client's", async () => {
  const world = worldOf(() => succeed("Ada and ada"));
  const { webhook: _, ...toClient } = TELL;
  const { id } = await world.run(
    graphWith([TELL, { ...toClient, id: "client" }]),
    {},
    {
      options: { callback_url: "https://example.com/done" },
    },
  );
  expect(await world.outputOf(id, "a")).toBe("Ada and ada");
  const told = await world.journal.readOutbox({ kind: "webhook", limit: 10 });
  const alerts = told.map(({ body }) => JSON.parse(body)).filter(({ event }) => event === "policy.alert");
  expect(alerts).toMatchObject([
    { url: "https://example.com/told", path: "a", decision: { policy: "tell", found: { text: 2 } } },
    { url: "https://example.com/done", path: "a", decision: { policy: "client" } },
  ]);
});

test("a run that is read again asks no policy: its decisions are on record", async () => {
  const own: Policy = {
    id: "own",
    when: { patterns: [{ kind: "regex", name: "t", pattern: "T-\\d+" }] },
    action: "redact",
  };
  const graph = toGraph([
    { ...agentTask("a"), policies: [own] },
    { id: "gate", kind: "approve", after: ["a"], message: { op: "literal", value: "?" } },
  ]);
  const world = worldOf(() => succeed("T-1 and T-22"));
  const { id } = await world.run(graph);
  expect(await world.outputOf(id, "a")).toBe("[t] and [t]");
  await world.host.park(AbortSignal.abort());
  const searched: string[] = [];
  const next = world.next({ host: { findAll: (text) => noted(searched, text) } });
  await next.host.request(id, { type: "answer", path: "gate", answer: { answer: "approve" } });
  await next.host.settled(id);
  expect(await next.recordOf(id)).toMatchObject({ status: "completed" });
  expect(searched).toEqual([]);
});

/** `outer` calls `middle`, which calls `inner`, whose task is `a`. */
function nested(outer: readonly Policy[], { middle = [], inner = [] }: { middle?: Policy[]; inner?: Policy[] } = {}) {
  const call = (workflow: string, policies: readonly Policy[]): Step => ({
    id: "call",
    kind: "call",
    workflow: { op: "literal", value: workflow },
    input: { op: "object", entries: {} },
    policies,
  });
  const callable = {
    middle: { ...toGraph([call("inner", middle)]), name: "middle" },
    inner: { ...toGraph([{ ...agentTask("a"), policies: inner }]), name: "inner" },
  };
  return { graph: { ...toGraph([call("middle", outer)]), name: "outer" }, callable };
}

const INNER = "call/call/a";

test("the policies of whoever calls bind what is called, however deep, beside the called workflow's own", async () => {
  const { graph, callable } = nested([HIDE], { middle: [TELL], inner: [HIDE] });
  const world = worldOf(() => succeed(`Ask ${MAIL}`), { callable });
  const { id } = await world.run(graph);
  expect(await world.outputOf(id, INNER)).toBe("Ask [email]");
  expect(await everythingOf(world, id)).not.toContain(MAIL);
  // The outermost is the inner one's own policy, word by word: it counts once.
  expect(await decisionsOf(world, id)).toEqual(["hide", "tell"]);
});

test("two policies of one name are told apart by the workflow that asks for them", async () => {
  const other: Policy = { ...HIDE, when: { contains: ["ask"] } };
  const { graph, callable } = nested([other], { inner: [HIDE] });
  const world = worldOf(() => succeed(`Ask ${MAIL}`), { callable });
  const { id } = await world.run(graph);
  expect(await world.outputOf(id, INNER)).toBe("[text] [email]");
  expect(await decisionsOf(world, id)).toEqual(["hide", "outer:hide"]);
});

test("a caller's policy blocks what is called, also after a restart, in a rerun and in a fork", async () => {
  const { graph, callable } = nested([BLOCK]);
  const world = worldOf(() => succeed(MAIL), { callable });
  const { id } = await world.run(graph);
  const blocked = { status: "failed", error: { code: "POLICY_BLOCKED" } };
  expect(await world.recordOf(id)).toMatchObject(blocked);
  for (const kind of ["rerun", "fork"] as const) {
    const lineage = { kind, run: id, fromPath: INNER };
    const again = await world.run(graph, {}, { lineage, parentRunId: id });
    expect(await world.recordOf(again.id)).toMatchObject(blocked);
  }

  const asking = nested([REVIEW]);
  const first = worldOf(() => succeed(MAIL), { callable: asking.callable });
  const { id: asked } = await first.run(asking.graph);
  expect(await first.recordOf(asked)).toMatchObject({ status: "awaiting_approval" });
  await first.host.park(AbortSignal.abort());
  // The called workflow is pinned with the run: what it is called now does not matter.
  const next = first.next({ callable: {}, plays: { a: () => fail("UNASKED") } });
  await next.host.request(asked, { type: "answer", path: INNER, answer: { answer: "approve" } });
  await next.host.settled(asked);
  expect(await next.recordOf(asked)).toMatchObject({ status: "completed" });
  expect(await next.outputOf(asked, INNER)).toBe(MAIL);
});

async function decisionsOf(world: World, runId: string): Promise<readonly string[]> {
  const events = await world.eventsOf(runId);
  return events.flatMap((event) => ("policies" in event ? (event.policies ?? []) : [])).map(({ policy }) => policy);
}
