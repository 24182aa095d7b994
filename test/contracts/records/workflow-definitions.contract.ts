import { describe, expect, test } from "vitest";
import { SENT } from "../../../src/core/trust/grant.ts";
import { seen } from "./eventually.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

export function describeWorkflowDefinitionsContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: definitions`, () => {
    test("versions of a definition are counted by name and owner, also by two processes", async () => {
      const [{ definitions: one }, { definitions: other }] = await open();
      const shared = { name: "n", text: "first", at: 1 };
      expect(await one.save(shared)).toEqual({ stored: { ...shared, version: 1 }, isNew: true });
      expect(await other.save({ ...shared, at: 2 })).toEqual({ stored: { ...shared, version: 1 }, isNew: false });
      expect(await other.save({ ...shared, text: "second", at: 3 })).toMatchObject({ stored: { version: 2 } });
      expect(await one.save({ ...shared, tenantId: "t" })).toMatchObject({ stored: { version: 1, tenantId: "t" } });
      await seen(async () => (await one.find({ name: "n" }))?.text, "second");
      expect(await one.find({ name: "n", version: 1 })).toEqual({ ...shared, version: 1 });
      expect(await one.list({})).toMatchObject([{ version: 2, text: "second", at: 3 }]);
      expect(await one.list({ tenantId: "t" })).toMatchObject([{ version: 1 }]);
      expect((await other.versions({ name: "n" })).map(({ version }) => version)).toEqual([2, 1]);
      expect(await other.remove({ name: "n" })).toBe(true);
      expect(await one.remove({ name: "n" })).toBe(false);
      expect(await one.find({ name: "n", tenantId: "t" })).toBeDefined();
    });

    test("what starts the newest version of a definition is known, and of what an older program has saved that nobody knows", async () => {
      const [{ definitions: one }, { definitions: other }] = await open();
      const names = async (list: Promise<readonly { readonly name: string }[]>) => (await list).map(({ name }) => name);
      await one.save({ name: "routed", text: "1", at: 1, startsBy: "http", maxCostMicro: 5 });
      await one.save({ name: "timed", tenantId: "t", text: "1", at: 1, startsBy: "cron" });
      await one.save({ name: "old", text: "1", at: 1 });
      expect(await names(other.listTriggered({}))).toEqual(["routed"]);
      expect(await names(other.listTimed())).toEqual(["old", "timed"]);
      await other.markStart({ name: "old", version: 1, startsBy: "queue" });
      await other.save({ name: "routed", text: "1", at: 2, startsBy: "http", maxCostMicro: 7 });
      await seen(async () => (await one.listTriggered({})).map(({ maxCostMicro }) => maxCostMicro), [undefined, 7]);
      expect(await one.listTriggered({})).toMatchObject([{ name: "old" }, { name: "routed", version: 1 }]);
      await other.save({ name: "routed", text: "2", at: 2, startsBy: "nothing" });
      await seen(() => names(one.listTriggered({})), ["old"]);
      expect(await names(one.listTimed())).toEqual(["timed"]);
    });

    test("of a name that two save at once every text is a version", async () => {
      const [{ definitions: one }, { definitions: other }] = await open();
      const saved = await Promise.all(
        ["a", "b", "c", "d", "e", "f"].map((text, n) => (n % 2 === 0 ? one : other).save({ name: "n", text, at: n })),
      );
      expect(saved.map(({ stored }) => stored.version).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    });

    test("what is remembered is what this one has written last, and soon what the other has", async () => {
      const [{ definitions: one }, { definitions: other }] = await open();
      const versions = async () => [
        (await one.find({ name: "n" }))?.version,
        (await one.find({ name: "n", version: 1 }))?.version,
      ];
      expect(await versions()).toEqual([undefined, undefined]);
      await other.save({ name: "n", text: "first", at: 1, grant: SENT });
      await seen(versions, [1, 1]);
      expect(await one.find({ name: "n" })).toMatchObject({ grant: SENT });
      await one.save({ name: "n", text: "second", at: 2 });
      expect(await versions()).toEqual([2, 1]);
      await one.remove({ name: "n" });
      expect(await versions()).toEqual([undefined, undefined]);
    });
  });
}
