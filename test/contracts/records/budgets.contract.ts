import { describe, expect, test } from "vitest";
import type { Budget, RunShare } from "../../../src/ports/service/budgets.ts";
import { seen } from "./eventually.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

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
  });
}
