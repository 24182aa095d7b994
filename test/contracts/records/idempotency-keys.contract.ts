import { describe, expect, test } from "vitest";
import type { RecordsUnderTest } from "./records-under-test.ts";

export function describeIdempotencyKeysContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: idempotency keys`, () => {
    test("a key is claimed once, also by two processes", async () => {
      const [{ idempotency: one }, { idempotency: other }] = await open();
      const claim = { key: "k", requestHash: "h", at: 0 };
      expect(await one.find(claim)).toBeUndefined();
      expect(await one.claim({ ...claim, tenantId: undefined, runId: "a" })).toMatchObject({ runId: "a", isNew: true });
      expect(await other.claim({ ...claim, runId: "b" })).toMatchObject({ runId: "a", isNew: false });
      expect(await other.claim({ ...claim, tenantId: "t", runId: "c" })).toMatchObject({ runId: "c" });
      const aDayLater = 24 * 60 * 60 * 1_000;
      expect(await other.find({ key: "k", at: aDayLater })).toMatchObject({ runId: "a" });
      expect(await other.find({ key: "k", at: aDayLater + 1 })).toBeUndefined();
    });

    test("of many who claim a key at once one gets it", async () => {
      const [{ idempotency: one }, { idempotency: other }] = await open();
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).claim({ key: "k", requestHash: "h", at: 0, runId: `r${n}` }),
        ),
      );
      expect(claims.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(claims.map(({ runId }) => runId)).size).toBe(1);
    });
  });
}
