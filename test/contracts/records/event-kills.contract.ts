import { describe, expect, test, vi } from "vitest";
import type { Graph } from "../../../src/core/graph/graph.ts";
import type { ServiceRecords } from "../../../src/operations/application/ports.ts";
import { settleEvents } from "../../../src/operations/triggers/publish-event.ts";
import type { PublishedEvents } from "../../../src/ports/service/published-events.ts";
import { HttpWorld } from "../../fakes/http-world.ts";
import { input, literal, task, to, uhlpGraph } from "../../fakes/uhlp-graph.ts";
import { journalWith } from "../../faults/world.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

const wait = { for: "event", name: literal("paid"), match: { order_id: input("order_id") } } as const;
const ORDER: Graph = uhlpGraph({
  name: "order",
  steps: [{ id: "wait", kind: "wait", wait, transitions: [to("ship")] }, task("ship")],
});
const METHODS = ["register", "unregister", "add", "claim", "settle", "keep"] as const;
type Method = (typeof METHODS)[number];
const MESSAGE = { messageId: "1", payload: { order_id: 7 } };

interface Death {
  readonly method: Method;
  readonly moment: "before" | "after";
}

/** The records of a process that dies at a call: whatever it asks from then on is never answered. */
function dyingIn(service: ServiceRecords, { method, moment }: Death) {
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  let isDead = false;
  const never = () => new Promise<never>(() => undefined);
  const events = new Proxy(service.events, {
    get(target, name) {
      const call = Reflect.get(target, name) as ((...given: unknown[]) => Promise<unknown>) | undefined;
      if (typeof call !== "function") return call;
      return async (...given: unknown[]) => {
        if (isDead) return never();
        isDead = name === method && moment === "before";
        if (!isDead) {
          const answer = await call.apply(target, given);
          isDead ||= name === method;
          if (!isDead) return answer;
        }
        die();
        return never();
      };
    },
  }) as PublishedEvents;
  // What has been written while it died is there, as on a disk.
  const stored = new MemoryJournal();
  const journal = journalWith(stored, (entries, append) => (isDead ? never() : append(entries)));
  return { died, service: { ...service, events }, journal, stored };
}

const post = (world: HttpWorld) => world.post("/triggers/paid", MESSAGE);

export function describeEventKillsContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: a process that dies while an event finds its run`, () => {
    for (const order of ["the event first", "the run first"] as const)
      for (const method of METHODS)
        for (const moment of ["before", "after"] as const)
          test(`${order}, ${moment} ${method}: one run has it, once`, async () => {
            const [one, other] = await open();
            const dying = dyingIn(one, { method, moment });
            const first = new HttpWorld([ORDER], { service: dying.service, journal: dying.journal });
            const begin = () => first.world.start(ORDER, { order_id: 7 }, { runId: "a" });
            const acts = order === "the event first" ? [() => post(first), begin] : [begin, () => post(first)];
            const all = (async () => {
              for (const act of acts) {
                await act();
                await first.world.host.settled("a").catch(() => undefined);
              }
              await first.world.host.settled("a");
            })();
            await Promise.race([dying.died, all]);

            const { blobs, files, clock } = first.world;
            const journal = dying.stored;
            clock.jump(20_000);
            const next = new HttpWorld([ORDER], { service: other, journal, blobs, files, clock });
            await next.world.host.recover();
            await settleEvents(next.parts.app);
            // Who had no answer sends it again, and starts what it had not started.
            if ((await journal.findRun("a")) === undefined)
              await next.world.start(ORDER, { order_id: 7 }, { runId: "a" });
            expect((await post(next)).status).toBe(202);
            await vi.waitFor(async () => expect((await next.world.recordOf("a")).status).toBe("completed"));
            const types = await next.world.typesOf("a");
            expect(types.filter((type) => type === "signalReceived")).toHaveLength(1);
            // Nothing is left for another run, and no wait is left behind.
            const second = await next.world.run(ORDER, { order_id: 7 });
            expect(second.status).toBe("waiting");
            expect(next.world.defects).toEqual([]);
          });
  });
}
