import { describe, expect, test } from "vitest";
import type { RecordsUnderTest } from "./records-under-test.ts";

const ALL = { exchanges: 10, chars: 1_000 };

export function describeConversationsContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: conversations`, () => {
    test("a session of one tenant does not exist for another, nor for the application", async () => {
      const [{ conversations: one }, { conversations: other }] = await open();
      const session = { agent: "A", id: "s" };
      await one.append({ ...session, tenantId: "one" }, { user: "hi", agent: "ho", key: "k", at: 1 });
      expect(await other.read({ ...session, tenantId: "one" }, ALL)).toEqual([{ user: "hi", agent: "ho" }]);
      expect(await other.read({ ...session, tenantId: "two" }, ALL)).toEqual([]);
      expect(await other.read(session, ALL)).toEqual([]);
    });

    test("the newest are read, oldest first, as many as fit, and of two with one key the first", async () => {
      const [{ conversations: one }, { conversations: other }] = await open();
      const session = { agent: "A", id: "s" };
      for (const n of [1, 2, 3, 3, 4]) await one.append(session, { user: `u${n}`, agent: "said", key: `k${n}`, at: n });
      await other.append(session, { user: "again", agent: "said", key: "k4", at: 5 });
      const users = async (limits: typeof ALL) => (await other.read(session, limits)).map(({ user }) => user);
      expect(await users(ALL)).toEqual(["u1", "u2", "u3", "u4"]);
      expect(await users({ ...ALL, exchanges: 2 })).toEqual(["u3", "u4"]);
      expect(await users({ ...ALL, chars: 13 })).toEqual(["u3", "u4"]);
    });

    test("the last thousand of a session are kept", async () => {
      const [{ conversations }] = await open();
      const session = { agent: "A", id: "s" };
      const other = { agent: "A", id: "other" };
      await conversations.append(other, { user: "u", agent: "a", key: "k", at: 0 });
      for (let n = 0; n < 1_003; n += 1)
        await conversations.append(session, { user: `${n}`, agent: "", key: `k${n}`, at: n });
      const kept = await conversations.read(session, { exchanges: 2_000, chars: 100_000 });
      expect([kept.length, kept[0]?.user]).toEqual([1_000, "3"]);
      expect(await conversations.read(other, ALL)).toHaveLength(1);
    });
  });
}
