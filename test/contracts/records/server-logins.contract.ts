import { describe, expect, test } from "vitest";
import type { RecordsUnderTest } from "./records-under-test.ts";

const OF = { server: "shop", address: "a" };
const SHORT = { now: 1_000, forMs: -1 };
const LONG = { now: 1_000, forMs: 60_000 };

export function describeServerLoginsContract({ name, open }: RecordsUnderTest): void {
  describe(`logins to servers in ${name}`, () => {
    test("are a tenant's, a server's and an address's own", async () => {
      const [{ logins: one }, { logins: other }] = await open();
      await one.save(OF, "own");
      await other.save({ ...OF, tenantId: "acme" }, "theirs");
      expect(await other.find(OF)).toMatchObject({ sealed: "own", version: 1 });
      expect(await one.find({ ...OF, tenantId: "acme" })).toMatchObject({ sealed: "theirs" });
      expect(await one.find({ ...OF, address: "b" })).toBeUndefined();
      expect(await one.find({ ...OF, server: "shops" })).toBeUndefined();
      expect([await other.remove(OF), await one.remove(OF)]).toEqual([true, false]);
      expect(await one.find({ ...OF, tenantId: "acme" })).toBeDefined();
    });

    test("are renewed by one at a time, and a newer one is not replaced", async () => {
      const [{ logins: one }, { logins: other }] = await open();
      await one.save(OF, "first");
      const claims = await Promise.all([one.claim(OF, 1, LONG), other.claim(OF, 1, LONG)]);
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect([await one.claim(OF, 1, LONG), await other.claim(OF, 1, LONG)]).toEqual([false, false]);
      await one.release(OF, 1);
      expect(await other.claim(OF, 1, LONG)).toBe(true);
      expect(await one.save(OF, "somebody has logged in")).toBe(true);
      expect(await other.save(OF, "renewed", 1)).toBe(false);
      expect(await other.find(OF)).toMatchObject({ sealed: "somebody has logged in", version: 2 });
      expect([await one.claim(OF, 1, LONG), await one.claim(OF, 2, LONG)]).toEqual([false, true]);
      expect(await one.save(OF, "renewed", 2)).toBe(true);
      expect(await other.claim(OF, 3, LONG)).toBe(true);
    });

    test("are free again when who wanted to renew one has died", async () => {
      const [{ logins: one }, { logins: other }] = await open();
      await one.save(OF, "first");
      expect(await one.claim(OF, 1, SHORT)).toBe(true);
      expect(await other.claim(OF, 1, LONG)).toBe(true);
    });
  });
}
