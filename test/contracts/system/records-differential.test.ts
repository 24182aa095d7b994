import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExact, writeExact } from "../../../src/core/exact-json.ts";
import type { Delivery } from "../../../src/ports/service/deliveries.ts";
import { rounds } from "../../properties/rounds.ts";
import {
  type AllRecords,
  POSTGRES_RECORDS,
  RECORDS_UNDER_TEST,
  type RecordsUnderTest,
} from "../records/records-under-test.ts";

/** Asks the same of both databases. What it returns is compared. */
type Operation = (records: AllRecords) => Promise<unknown>;

const short = fc.constantFrom("a", "b", "Ab", "ä", "a\0b", "\u{10FFFE}0", "%");
const tenantId = fc.constantFrom(undefined, undefined, "t", "T");
const time = fc.integer({ min: 0, max: 20 });
const text = fc.oneof(short, fc.string());
const json = fc.jsonValue().map((value) => ({ value: parseExact(writeExact(value)) }));

/** Fields that are undefined are not there. */
function record<T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) {
  return fc.record(fields).map((each) => {
    const given = Object.entries(each).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given) as { [Name in keyof T]: T[Name] extends fc.Arbitrary<infer V> ? V : never };
  });
}

const keys: fc.Arbitrary<Operation> = fc.oneof(
  record({
    id: short,
    name: text,
    tenantId,
    createdAt: time,
    maxCostMicro: fc.option(fc.nat(), { nil: undefined }),
  }).map((key) => async (records: AllRecords) => {
    if ((await records.keys.find(key.id)) !== undefined) return "known";
    await records.keys.add({ ...key, secretHash: "00", scopes: ["read", "run"] } as never);
    return "added";
  }),
  fc.tuple(short, time).map(
    ([id, at]) =>
      (records: AllRecords) =>
        records.keys.revoke(id, at),
  ),
  tenantId.map((of) => (records: AllRecords) => records.keys.list(of === undefined ? {} : { tenantId: of })),
  fc.constant((records: AllRecords) => records.keys.areThere()),
);

const DAY_MS = 24 * 60 * 60 * 1_000;
const idempotency: fc.Arbitrary<Operation> = record({
  tenantId,
  key: short,
  requestHash: short,
  runId: short,
  at: time.map((days) => (days * DAY_MS) / 4),
}).map((claim) => async ({ idempotency: of }: AllRecords) => [
  await of.claim(claim as never),
  await of.find(claim as never),
]);

const owned = record({ tenantId, name: short });
const startsBy = fc.constantFrom(undefined, "http", "queue", "cron", "nothing");
const definitions: fc.Arbitrary<Operation> = fc.oneof(
  record({ tenantId, name: short, text: fc.constantFrom("1", "2", "\0"), at: time, startsBy }).map(
    (definition) => (records: AllRecords) => records.definitions.save(definition as never),
  ),
  owned.map((key) => (records: AllRecords) => records.definitions.find(key as never)),
  owned.map((key) => (records: AllRecords) => records.definitions.versions(key as never)),
  fc.tuple(owned, fc.constantFrom("http", "cron")).map(
    ([key, start]) =>
      (records: AllRecords) =>
        records.definitions.markStart({ ...key, version: 1, startsBy: start } as never),
  ),
  owned.map((key) => (records: AllRecords) => records.definitions.remove(key as never)),
  owned.map((of) => async ({ definitions: each }: AllRecords) => [
    await each.list(of as never),
    await each.listTriggered(of as never),
    await each.listTimed(),
  ]),
);

const note = record({
  run: short,
  path: short,
  status: fc.constantFrom("retried", "resolved"),
  at: time,
  note: fc.option(text, { nil: undefined }),
  newRun: fc.option(short, { nil: undefined }),
  isPending: fc.constantFrom(undefined, true),
});
const deadLetters: fc.Arbitrary<Operation> = fc.oneof(
  note.map((each) => (records: AllRecords) => records.deadLetters.close(each as never)),
  note.map((each) => (records: AllRecords) => records.deadLetters.confirm(each.run, each.path)),
  note.map((each) => (records: AllRecords) => records.deadLetters.reopen(each.run, each.path, each.newRun ?? "")),
  note.map((each) => (records: AllRecords) => records.deadLetters.find(each.run, each.path)),
  short.map((run) => (records: AllRecords) => records.deadLetters.forget(run)),
);

const lane = fc.constantFrom("l", "m");
const next = fc.oneof(
  fc.record({ status: fc.constant("pending" as const), nextAt: time }),
  fc.record({ status: fc.constant("delivered" as const), endedAt: time }),
  fc.record({ status: fc.constant("failed" as const), endedAt: time, reason: text }),
);
const status = fc.option(fc.subarray(["pending", "delivered", "failed", "skipped"] as const), { nil: undefined });

function withDelivery(id: string, act: (delivery: Delivery) => Operation): Operation {
  return async (records) => {
    const delivery = await records.deliveries.find(id);
    return delivery === undefined ? undefined : act(delivery)(records);
  };
}

const deliveries: fc.Arbitrary<Operation> = fc.oneof(
  record({
    id: short,
    tenantId,
    runId: fc.option(short, { nil: undefined }),
    url: short,
    body: text,
    lane,
    createdAt: time,
  }).map(
    (each) => (records: AllRecords) =>
      records.deliveries.add({
        ...each,
        channel: "webhook",
        event: "e",
        workflow: "w",
        readsEnv: false,
        sealedHeaders: "",
      } as never),
  ),
  fc.tuple(short, next, fc.boolean(), text, time).map(([id, to, gone, excerpt, at]) =>
    withDelivery(id, (delivery) => async (records) => {
      await records.deliveries.record(delivery, { made: { at, durationMs: 1, excerpt }, next: to, gone });
      return [
        await records.deliveries.find(id),
        await records.deliveries.readTries(id),
        await records.deliveries.isClosed(delivery),
      ];
    }),
  ),
  fc
    .tuple(short, time)
    .map(([id, at]) =>
      withDelivery(id, (delivery) => (records) => records.deliveries.skip(delivery, { at, reason: "no" })),
    ),
  fc.tuple(short, time).map(
    ([id, at]) =>
      (records: AllRecords) =>
        records.deliveries.sendAgain(id, at),
  ),
  fc.tuple(time, fc.subarray(["l", "m"])).map(
    ([now, lanesUnderWay]) =>
      (records: AllRecords) =>
        records.deliveries.claimDue({ now, limit: 2, perLane: 1, lanesUnderWay, by: "me", leaseMs: 2 ** 40 }),
  ),
  record({ tenantId, status, limit: fc.nat(3) }).map((filter) => async (records: AllRecords) => [
    await records.deliveries.list(filter as never),
    await records.deliveries.count(filter as never),
  ]),
  time.map((at) => (records: AllRecords) => records.deliveries.forgetEndedBefore(at)),
);

const slot = record({
  slot: time,
  kind: fc.constantFrom("cron", "manual"),
  at: time,
  outcome: fc.oneof(
    fc.constantFrom({ state: "claimed" }, { state: "queued" }),
    short.map((runId) => ({ state: "started", runId })),
    text.map((message) => ({ state: "skipped", reason: "refused", message })),
  ),
});
const slots = fc.array(slot, { maxLength: 3 });
const schedules: fc.Arbitrary<Operation> = fc.oneof(
  record({ id: short, tenantId, input: json, dueAt: time, createdAt: time, enabled: fc.boolean() }).map(
    (each) => (records: AllRecords) =>
      records.schedules.add({
        ...each,
        workflow: "w",
        cron: "* * * * *",
        timezone: "UTC",
        overlap: "skip",
        catchUp: "one",
        jitterSeconds: 0,
        source: "api",
        nextFireAt: each.dueAt,
        version: 1,
        updatedAt: 0,
      } as never),
  ),
  fc.tuple(short, fc.integer({ min: 1, max: 3 }), fc.option(time), slots).map(
    ([id, version, dueAt, added]) =>
      (records: AllRecords) =>
        records.schedules.edit(id, {
          version,
          at: 7,
          changes: { dueAt, enabled: dueAt !== null },
          slots: added as never,
        }),
  ),
  fc.tuple(short, time, time, slots).map(([id, fromFireAt, dueAt, added]) => async (records: AllRecords) => {
    const version = (await records.schedules.find(id))?.version ?? 1;
    const claim = { version, fromFireAt, nextFireAt: dueAt, dueAt, slots: added as never };
    return records.schedules.claim(id, claim);
  }),
  fc.tuple(short, slots).map(
    ([id, added]) =>
      (records: AllRecords) =>
        records.schedules.addSlots(id, added as never),
  ),
  fc.tuple(fc.integer({ min: 1, max: 5 }), slot).map(([nth, { outcome }]) => async (records: AllRecords) => {
    const pending = await records.schedules.listPending();
    const chosen = pending[nth % Math.max(1, pending.length)];
    if (chosen !== undefined) await records.schedules.settle(chosen.seq, outcome as never);
  }),
  short.map((id) => async ({ schedules: each }: AllRecords) => {
    const running = await each.listRunning(id);
    await each.finish(running.slice(1).map(({ seq }) => seq));
    return [await each.find(id), running, await each.countSlots(id)];
  }),
  fc.tuple(short, time, fc.nat(2)).map(([id, now, offset]) => async ({ schedules: each }: AllRecords) => [
    await each.listSlots(id, { limit: 3, offset }),
    await each.listPending(),
    await each.listDue(now),
    await each.nextDueAt(),
    await each.list({}),
  ]),
  short.map((id) => (records: AllRecords) => records.schedules.remove(id)),
);

const amounts = fc.record({ cost: fc.nat(9), tokens: fc.nat(9), tries: fc.nat(9), duration: fc.nat(9) });
const shares = fc.array(
  fc.record({
    budget: short,
    day: fc.constantFrom("", "2026-01-01"),
    use: fc.tuple(amounts, fc.boolean()).map(([use, unpriced]) => ({ ...use, unpriced })),
  }),
  { maxLength: 3 },
);
const holder = fc.constantFrom("one", "two", "three");
const budgets: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .record({
      budget: short,
      day: fc.constantFrom("", "2026-01-01"),
      holder,
      inUse: amounts,
      wants: fc.boolean(),
      keepsHalf: fc.boolean(),
    })
    .map((wish) => (records: AllRecords) => records.budgets.lease(wish)),
  holder.map((by) => async (records: AllRecords) => {
    await records.budgets.release(by);
    return [await records.budgets.wantedOf(by), await records.budgets.open(by)];
  }),
  record({
    id: short,
    workflow: fc.constantFrom(undefined, "w"),
    tenantId,
    limits: fc.record({ cost: fc.nat(9) }),
  }).map(
    (each) => (records: AllRecords) =>
      records.budgets.put({ ...each, per: "day", onExceeded: "ask", createdAt: 1, updatedAt: 2 } as never),
  ),
  short.map((id) => (records: AllRecords) => records.budgets.remove(id)),
  fc.tuple(short, shares, fc.nat(9), holder, fc.boolean()).map(
    ([run, of, seq, holder, isTakenUp]) =>
      (records: AllRecords) =>
        records.budgets.note(run, of, { holder, upToSeq: seq, isTakenUp }),
  ),
  fc.tuple(short, shares).map(
    ([run, of]) =>
      (records: AllRecords) =>
        records.budgets.close(run, of),
  ),
  fc.tuple(short, short, amounts).map(
    ([id, budget, by]) =>
      (records: AllRecords) =>
        records.budgets.raise(id, { budget, day: "", by }),
  ),
  fc.tuple(short, tenantId).map(([id, of]) => async ({ budgets: each }: AllRecords) => [
    await each.list(),
    await each.find(id),
    await each.applying({ workflow: "w", tenantId: of }),
    await each.sum(id, ""),
    await each.sharesOf(id),
    await each.open(),
  ]),
);

const conversations: fc.Arbitrary<Operation> = record({ tenantId, agent: short, id: fc.constant("s") }).chain(
  (session) =>
    fc.oneof(
      fc
        .record({ user: text, agent: text, key: short, at: time })
        .map((said) => (records: AllRecords) => records.conversations.append(session as never, said)),
      fc
        .record({ exchanges: fc.nat(4), chars: fc.nat(40) })
        .map((limits) => (records: AllRecords) => records.conversations.read(session as never, limits)),
    ),
);

const operation = fc.oneof(keys, idempotency, definitions, deadLetters, deliveries, schedules, budgets, conversations);

/** Numbers of rows have holes where a row was refused. An absent field is one that is undefined. */
async function answerOf(act: Operation, records: AllRecords): Promise<unknown> {
  const answer = await act(records);
  const withoutNumbers = (name: string, value: unknown) => (name === "no" || name === "seq" ? undefined : value);
  return answer === undefined ? undefined : parseExact(writeExact(answer, withoutNumbers));
}

async function openOne(under: RecordsUnderTest | undefined): Promise<AllRecords> {
  const opened = await under?.open();
  if (opened === undefined) throw new Error("There are no such records.");
  return opened[0];
}

test("random sequences of operations on records are answered alike by SQLite and PostgreSQL", async () => {
  const sequence = fc.array(operation, { minLength: 20, maxLength: 60 });
  for (const [round, operations] of fc.sample(sequence, { numRuns: rounds(6), seed: 16 }).entries()) {
    const [one, other] = [await openOne(RECORDS_UNDER_TEST[0]), await openOne(POSTGRES_RECORDS)];
    for (const [index, act] of operations.entries()) {
      const [expected, answer] = await Promise.all([answerOf(act, one), answerOf(act, other)]);
      expect({ round, index, answer }).toEqual({ round, index, answer: expected });
    }
  }
}, 600_000);
