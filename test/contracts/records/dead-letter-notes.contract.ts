import { describe, expect, test } from "vitest";
import type { RecordsUnderTest } from "./records-under-test.ts";

export function describeDeadLetterNotesContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: dead letters`, () => {
    test("a dead letter is dealt with once, also by two processes", async () => {
      const [{ deadLetters: one }, { deadLetters: other }] = await open();
      const note = { run: "r", path: "a[1]", status: "retried", at: 5, newRun: "n", isPending: true } as const;
      expect(await one.close(note)).toBe(true);
      expect(await other.close({ ...note, status: "resolved", note: "no" })).toBe(false);
      expect(await other.find("r", "a[1]")).toEqual(note);
      expect(await other.find("r", "a[2]")).toBeUndefined();
      await one.reopen("r", "a[1]", "another");
      expect(await other.find("r", "a[1]")).toEqual(note);
      await one.reopen("r", "a[1]", "n");
      expect(await other.close(note)).toBe(true);
      await one.confirm("r", "a[1]");
      const { isPending: _, ...confirmed } = note;
      expect(await other.find("r", "a[1]")).toEqual(confirmed);
      await other.reopen("r", "a[1]", "n");
      expect(await one.find("r", "a[1]")).toBeUndefined();
      expect(await other.close({ run: "r", path: "a[1]", status: "resolved", at: 6, note: "no" })).toBe(true);
      expect(await one.find("r", "a[1]")).toMatchObject({ status: "resolved", note: "no" });
      await one.forget("r");
      expect(await other.find("r", "a[1]")).toBeUndefined();
    });
  });
}
