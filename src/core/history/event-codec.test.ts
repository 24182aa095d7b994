import { describe, expect, test } from "vitest";
import { decodeEvent, encodeEvent, type StoredEvent } from "./event-codec.ts";
import type { Event, EventType } from "./events.ts";

const step = { path: "a[3]/b#2", attempt: 2, at: 1_000 };

/** One of every type, with every field that it can have. */
const SAMPLES: { readonly [T in EventType]: Required<Event & { type: T }> } = {
  runStarted: {
    type: "runStarted",
    at: 1,
    decided: [1],
    runId: "r",
    workflow: "w",
    inputNames: ["x"],
    bytes: 5_000,
    projected: { x: 1 },
    sealed: "s",
    missing: ["input.y"],
    maxCostMicro: 5,
    uses: { maxTokens: 6, maxTries: 7, maxDurationMs: 8 },
    onExceeded: "ask",
    options: { agent: "inline" },
    lineage: { kind: "fork", run: "r0", fromPath: "a" },
    place: { key: "k", limit: 1, whenFull: "queue" },
    rate: { key: "k", slot: 1, startsAt: 2 },
  },
  runHeld: { type: "runHeld", at: 1, decided: [] },
  runResumed: { type: "runResumed", at: 1, releases: true, queues: true, decided: [] },
  placeTaken: { type: "placeTaken", at: 1, decided: [] },
  stepStarted: { type: "stepStarted", ...step, startedAt: 3, flight: 4, decided: ["d"], bytes: 5_000 },
  stepSucceeded: {
    type: "stepSucceeded",
    ...step,
    startedAt: 900,
    waitedMs: 70,
    inputHash: "h",
    empty: true,
    bytes: 5_000,
    costMicro: 0,
    unpriced: true,
    usage: { input: 1 },
    repaired: true,
    projected: { p: null },
    assigned: { v: [1, 9007199254740993n] },
    policies: [{ policy: "p", action: "alert", why: "w", found: { email: 1 } }],
    reused: { run: "r0", seq: 9 },
    missing: ["{input.x}"],
    decided: [{ to: "b" }],
  },
  stepFailed: {
    type: "stepFailed",
    ...step,
    startedAt: 900,
    waitedMs: 70,
    code: "TIMEOUT",
    message: "slow",
    retryable: false,
    effect: "unknown",
    answered: true,
    inputHash: "h",
    costMicro: 12,
    unpriced: false,
    usage: {},
    projected: {},
    assigned: {},
    policies: [{ policy: "p", action: "alert", why: "w", found: { email: 1 } }],
    missing: ["{input.x}"],
    outspent: { promisedMicro: 12 },
    decided: [],
  },
  stepProjected: {
    type: "stepProjected",
    at: 1,
    path: "a",
    projected: { p: 1 },
    missing: ["output.x"],
    assigned: { v: 2 },
    decided: [],
  },
  stepInterrupted: {
    type: "stepInterrupted",
    ...step,
    cause: "crash",
    hasBegun: false,
    apart: true,
    diedAt: 900,
    counts: true,
    holds: true,
    reason: "The server died.",
    decided: [],
  },
  stepRecorded: { type: "stepRecorded", ...step, key: "turn/1", lacks: "A function.", bytes: 5_000, decided: [] },
  stepLogged: { type: "stepLogged", ...step, bytes: 5_000, decided: [] },
  costReserved: { type: "costReserved", ...step, call: 1, atMostMicro: 5, decided: [] },
  costReported: { type: "costReported", ...step, costMicro: 3, call: 1, uncertain: true, refused: true, decided: [] },
  callResolved: {
    type: "callResolved",
    missing: ["{input.x}"],
    timeoutMs: 1_000,
    at: 1,
    path: "a",
    graph: "g",
    workflow: "w",
    inputNames: [],
    bytes: 5_000,
    projected: {},
    sealed: "s",
    decided: [],
  },
  waitBegun: { type: "waitBegun", missing: ["input.x"], at: 1, path: "a", until: 5, signal: "s", decided: [] },
  approvalAsked: {
    type: "approvalAsked",
    at: 1,
    path: "a",
    attempt: 2,
    startedAt: 1,
    waitedMs: 7,
    message: "ok?",
    bytes: 5_000,
    key: "call-1",
    allowEdit: true,
    schema: { type: "object" },
    costMicro: 5,
    unpriced: true,
    usage: { tokens: 3 },
    policies: [{ policy: "p", action: "alert", why: "w", found: { email: 1 } }],
    decided: [],
  },
  approvalAnswered: {
    type: "approvalAnswered",
    at: 1,
    path: "a",
    answer: "approve",
    by: "me",
    who: { name: "ada", key: "0123456789ab" },
    comment: "fine",
    edited: true,
    reused: { run: "r0", seq: 4 },
    decided: [],
  },
  approvalCounted: {
    type: "approvalCounted",
    at: 1,
    path: "a",
    by: "me",
    who: { name: "ada", key: "0123456789ab" },
    comment: "fine",
    decided: [],
  },
  timerFired: { type: "timerFired", at: 1, timer: "a@retry2", again: 2, decided: [] },
  signalReceived: { type: "signalReceived", key: { key: "k", hash: "h" }, at: 1, name: "s", decided: [] },
  cancelRequested: { type: "cancelRequested", at: 1, by: "me", reason: "why", decided: [] },
  budgetExhausted: { type: "budgetExhausted", ...step, message: "used up", decided: [] },
  stepHeld: { type: "stepHeld", ...step, decided: [] },
  limitRaised: { type: "limitRaised", at: 1, id: "q", by: { cost: 1, tokens: 2, tries: 3, duration: 4 }, decided: [] },
  limitNeared: { type: "limitNeared", at: 1, budget: "b", of: "cost", limit: 10, used: 8, decided: [] },
  runFinished: { type: "runFinished", at: 1, status: "failed", code: "STEP_FAILED", message: "no", decided: [] },
};

test.each(Object.values(SAMPLES))("$type with all its fields comes back as it was", (event) => {
  expect(decodeEvent(encodeEvent(event))).toEqual(event);
});

test("what is searched and summed has columns of its own", () => {
  const { body, ...columns } = encodeEvent(SAMPLES.stepSucceeded);

  expect(columns).toEqual({ type: "stepSucceeded", path: "a[3]/b#2", attempt: 2, at: 1_000, costMicro: 0 });
  expect(Object.keys(JSON.parse(body ?? ""))).not.toContain("path");
});

test.each<Event>([
  { type: "stepStarted", ...step },
  { type: "stepSucceeded", ...step },
  { type: "stepSucceeded", ...step, costMicro: 5 },
  { type: "stepLogged", ...step },
  { type: "runResumed", at: 1 },
])("$type with nothing but columns has no body", (event) => {
  const stored = encodeEvent(event);
  expect(stored.body).toBeNull();
  expect(decodeEvent(stored)).toEqual(event);
});

test("a field that is absent stays absent", () => {
  expect(Object.keys(decodeEvent(encodeEvent({ type: "stepSucceeded", ...step, repaired: true })))).not.toContain(
    "usage",
  );
});

test("the text in the journal is part of the format", () => {
  expect(encodeEvent({ type: "stepSucceeded", ...step, inputHash: "h", usage: { input: 1 } })).toEqual({
    type: "stepSucceeded",
    path: "a[3]/b#2",
    attempt: 2,
    at: 1_000,
    costMicro: null,
    body: '{"inputHash":"h","usage":{"input":1}}',
  });
});

describe("versions", () => {
  const stored: StoredEvent = { type: "timerFired", path: null, attempt: null, at: 1, costMicro: null, body: null };

  test("a version of the future is JOURNAL_NEWER", () => {
    expect(() => decodeEvent({ ...stored, body: '{"timer":"t","v":2}' })).toThrow(
      expect.objectContaining({ code: "JOURNAL_NEWER" }),
    );
  });

  test.each(["stepTeleported", "toString", "__proto__"])("the unknown type %s is JOURNAL_NEWER", (type) => {
    expect(() => decodeEvent({ ...stored, type })).toThrow(expect.objectContaining({ code: "JOURNAL_NEWER" }));
  });
});
