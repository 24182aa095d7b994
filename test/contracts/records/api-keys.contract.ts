import { describe, expect, test } from "vitest";
import { SENT } from "../../../src/core/trust/grant.ts";
import type { StoredKey } from "../../../src/ports/service/api-keys.ts";
import { seen } from "./eventually.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

const KEY: StoredKey = { id: "0123456789ab", name: "n", secretHash: "00", scopes: ["read", "admin"], createdAt: 5 };

export function describeApiKeysContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: keys`, () => {
    test("what one process has stored, another finds as it was", async () => {
      const [{ keys: one }, { keys: other }] = await open();
      expect(await one.areThere()).toBe(false);
      const full: StoredKey = {
        ...KEY,
        id: "ffffffffffff",
        tenantId: "t",
        maxCostMicro: 7,
        grant: SENT,
        tellsContext: true,
        expiresAt: 9,
      };
      await one.add(KEY);
      await other.add(full);
      expect(await other.find(KEY.id)).toEqual(KEY);
      expect(await one.find("no")).toBeUndefined();
      expect(await one.list({})).toEqual([KEY, full]);
      expect(await one.list({ tenantId: "t" })).toEqual([full]);
    });

    test("a key is revoked once, and seen as revoked everywhere at once", async () => {
      const [{ keys: one }, { keys: other }] = await open();
      await one.add(KEY);
      expect(await other.find(KEY.id)).toEqual(KEY);
      expect(await one.revoke(KEY.id, 8)).toBe(true);
      expect(await other.find(KEY.id)).toEqual({ ...KEY, revokedAt: 8 });
      expect(await other.revoke(KEY.id, 9)).toBe(false);
      expect(await other.revoke("no", 9)).toBe(false);
    });

    test("whether there are keys is known here at once, and elsewhere soon", async () => {
      const [{ keys: one }, { keys: other }] = await open();
      expect([await one.areThere(), await other.areThere()]).toEqual([false, false]);
      await one.add(KEY);
      expect(await one.areThere()).toBe(true);
      await seen(() => other.areThere(), true);
      await other.revoke(KEY.id, 8);
      expect(await other.areThere()).toBe(false);
      await seen(() => one.areThere(), false);
    });
  });
}
