import { describe, expect, test } from "vitest";
import type { Budget, LeaseWish, RunShare } from "../../../src/ports/service/budgets.ts";
import { seen } from "./eventually.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

const NONE = { cost: 0, tokens: 0, tries: 0, duration: 0 };

const TOTAL: Budget = {
  id: "b",
  per: "total",
  limits: { cost: 1_000 },
  onExceeded: "stop",
  createdAt: 1,
  updatedAt: 1,
};

const shareOf = (cost: number): RunShare => ({ budget: "b", day: "", use: { ...NONE, cost, unpriced: false } });

export function describeBudgetsContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: budgets`, () => {
    test("of a budget every process reads the same, what ended runs have used included, and each is added once", async () => {
      const [{ budgets: one }, { budgets: other }] = await open();
      const budget: Budget = {
        id: "b",
        workflow: "w",
        tenantId: "t",
        per: "day",
        limits: { cost: 9, duration: 7 },
        onExceeded: "ask",
        webhook: "https://example.com",
        createdAt: 1,
        updatedAt: 1,
      };
      expect(await one.put(budget)).toEqual(budget);
      expect(await other.put({ ...budget, limits: { tries: 1 }, createdAt: 2, updatedAt: 2 })).toMatchObject({
        limits: { tries: 1 },
        createdAt: 1,
        updatedAt: 2,
      });
      await seen(async () => (await one.applying({ workflow: "w", tenantId: "t" })).length, 1);
      expect(await one.applying({ workflow: "w" })).toEqual([]);
      expect(await one.applying({ workflow: "v", tenantId: "t" })).toEqual([]);
      const share = (cost: number): RunShare => ({
        budget: "b",
        day: "2026-01-01",
        use: { cost, tokens: 2, tries: 1, duration: 3, unpriced: cost === 4 },
      });
      await one.note("r", [share(3)], { holder: "a", upToSeq: 5 });
      await one.note("r", [share(4)], { holder: "a", upToSeq: 6 });
      await other.note("s", [share(1)], { holder: "b", upToSeq: 2 });
      expect(await other.open()).toEqual([
        { run: "r", upToSeq: 6, budgets: ["b"] },
        { run: "s", upToSeq: 2, budgets: ["b"] },
      ]);
      await one.close("r", [share(4)]);
      await other.close("r", [share(4)]);
      await one.raise("q", { budget: "b", day: "2026-01-01", by: { tries: 2 } });
      await other.raise("q", { budget: "b", day: "2026-01-01", by: { tries: 2 } });
      const use = { cost: 5, tokens: 4, tries: 2, duration: 6, unpriced: true };
      expect(await other.sum("b", "2026-01-01")).toMatchObject({ use, raised: { tries: 2 } });
      expect(await one.sum("b", "2026-01-02")).toMatchObject({ use: { cost: 0, unpriced: false } });
      expect([await one.remove("b"), await other.remove("b")]).toEqual([true, false]);
      expect(await other.open()).toEqual([]);
    });

    test("budgets are listed by tenant and workflow, those of everybody first", async () => {
      const [{ budgets }] = await open();
      const each = { per: "total", limits: { cost: 1 }, onExceeded: "stop", createdAt: 1, updatedAt: 1 } as const;
      await budgets.put({ ...each, id: "4", tenantId: "t" });
      await budgets.put({ ...each, id: "3", tenantId: "T" });
      await budgets.put({ ...each, id: "2", workflow: "w" });
      await budgets.put({ ...each, id: "1" });
      expect((await budgets.list()).map(({ id }) => id)).toEqual(["1", "2", "3", "4"]);
      expect(await budgets.find("1")).toEqual({ ...each, id: "1" });
      expect(await budgets.find("5")).toBeUndefined();
    });

    test("shares of a budget that is gone are not kept", async () => {
      const [{ budgets: one }, { budgets: other }] = await open();
      const use = { cost: 1, tokens: 1, tries: 1, duration: 1, unpriced: false };
      await one.note("r", [{ budget: "gone", day: "", use }], { holder: "a", upToSeq: 3 });
      expect(await other.sharesOf("r")).toEqual([]);
      expect(await other.open()).toEqual([]);
    });

    test("one process has all that is left; of two the one that waits gets what the other does not use", async () => {
      const [{ budgets: one }, { budgets: other }] = await open();
      await one.put(TOTAL);
      const lease = (of: typeof one, holder: string, inUse: number, more: Partial<LeaseWish> = {}) =>
        of.lease({
          budget: "b",
          day: "",
          holder,
          inUse: { ...NONE, cost: inUse },
          wants: false,
          keepsHalf: false,
          ...more,
        });
      expect(await lease(one, "a", 0)).toMatchObject({ left: { cost: 1_000 }, elsewhere: { cost: 0 } });
      await one.note("r", [shareOf(100)], { holder: "a", upToSeq: 1 });
      expect(await lease(other, "b", 0, { wants: true })).toMatchObject({
        left: { cost: 0 },
        elsewhere: { cost: 900 },
      });
      expect(await one.wantedOf("a")).toEqual([{ budget: "b", day: "" }]);
      expect(await one.wantedOf("b")).toEqual([]);
      expect(await lease(one, "a", 100, { keepsHalf: true })).toMatchObject({ left: { cost: 500 } });
      expect(await lease(other, "b", 0, { wants: true })).toMatchObject({ left: { cost: 400 }, isWaiting: false });
      expect(await lease(other, "c", 0, { wants: true })).toMatchObject({ left: { cost: 0 }, isWaiting: true });
      expect(await lease(one, "a", 100)).toMatchObject({ left: { cost: 100 } });
      expect(await one.holders()).toEqual(["a", "b", "c"]);
      await other.release("a");
      expect(await lease(other, "c", 0, { wants: true })).toMatchObject({ left: { cost: 500 } });
      expect(await lease(one, "a", 0, { budget: "gone" })).toBeUndefined();
    });

    test("what is noted comes from the lease, but for what another process has used, and only of runs that are its own", async () => {
      const [{ budgets: one }, { budgets: other }] = await open();
      await one.put(TOTAL);
      const left = async (holder: string) => {
        const wish = { budget: "b", day: "", holder, inUse: NONE, wants: false, keepsHalf: true };
        return (await one.lease(wish))?.left.cost;
      };
      await left("a");
      await one.note("r", [shareOf(300)], { holder: "a", upToSeq: 1 });
      await one.note("r", [shareOf(400)], { holder: "a", upToSeq: 2, ifHeldBy: ["a"] });
      expect(await left("a")).toBe(600);
      await other.note("r", [shareOf(450)], { holder: "b", upToSeq: 3, isTakenUp: true });
      expect(await one.note("r", [shareOf(410)], { holder: "a", upToSeq: 2, ifHeldBy: ["a"] })).toBe(false);
      await one.close("r", [shareOf(410)], { holder: "a", ifHeldBy: ["a"] });
      expect(await one.begin("r", [shareOf(0)], "a")).toBe(false);
      expect(await other.begin("r", [shareOf(0)], "b")).toBe(true);
      expect(await other.sharesOf("r")).toEqual([{ ...shareOf(450), holder: "b" }]);
      expect([await one.open("a"), await one.open("b")]).toMatchObject([[], [{ run: "r", upToSeq: 3 }]]);
      await other.close("r", [shareOf(500)], { holder: "b", ifHeldBy: ["b"] });
      expect((await one.sum("b", "")).use.cost).toBe(500);
      expect(await left("a")).toBe(500);
    });

    test("the noted use and what all processes hold are never more than the limit, whatever they ask for at once", async () => {
      const [{ budgets: one }, { budgets: other }] = await open();
      await one.put(TOTAL);
      const asked = Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? one : other).lease({
          budget: "b",
          day: "",
          holder: `process ${n % 4}`,
          inUse: { ...NONE, cost: 10 },
          wants: true,
          keepsHalf: n % 3 === 0,
        }),
      );
      const notes = [1, 2, 3].map((n) => other.note(`r${n}`, [shareOf(5 * n)], { holder: `process ${n}`, upToSeq: n }));
      await Promise.all([...asked, ...notes]);
      const last = await one.lease({
        budget: "b",
        day: "",
        holder: "last",
        inUse: NONE,
        wants: true,
        keepsHalf: false,
      });
      const held = (last?.left.cost ?? 0) + (last?.elsewhere.cost ?? 0);
      expect((last?.use.cost ?? 0) + held).toBeLessThanOrEqual(1_000);
      expect(last?.use.cost).toBe(30);
    });
  });
}
