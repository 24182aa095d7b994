import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Blobs } from "../../src/ports/blobs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What every blob store promises. */
export function describeBlobsContract(name: string, { open }: { open(folder: string): Blobs }): void {
  const openInNewFolder = () => open(temporaryFolder());

  describe(`${name}: blobs`, () => {
    test("a blob is named by its SHA-256 and comes back as it was", async () => {
      const blobs = openInNewFolder();
      const content = new Uint8Array([0, 255, 10, 13, 0]);

      const sha256 = await blobs.put(content);

      expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
      expect(new Uint8Array(await blobs.get(sha256))).toEqual(content);
    });

    test("text is stored as UTF-8", async () => {
      const blobs = openInNewFolder();
      const sha256 = await blobs.put("grün 😀");
      expect(Buffer.from(await blobs.get(sha256)).toString("utf8")).toBe("grün 😀");
    });

    test("nothing at all is a content too", async () => {
      const blobs = openInNewFolder();
      expect(await blobs.get(await blobs.put(""))).toHaveLength(0);
    });

    test("the same content many times at once is one blob", async () => {
      const blobs = openInNewFolder();

      const names = await Promise.all(Array.from({ length: 20 }, () => blobs.put("same")));
      await blobs.put("same");

      expect(new Set(names).size).toBe(1);
      expect(await listed(blobs)).toMatchObject([{ sha256: names[0], bytes: 4 }]);
    });

    test("a missing blob is BLOB_MISSING", async () => {
      const blobs = openInNewFolder();
      await expect(blobs.get("0".repeat(64))).rejects.toMatchObject({ code: "BLOB_MISSING" });
    });

    test("a removed blob is missing, and removing it again is nothing", async () => {
      const blobs = openInNewFolder();
      const sha256 = await blobs.put("x");

      await blobs.remove(sha256);
      await blobs.remove(sha256);

      await expect(blobs.get(sha256)).rejects.toMatchObject({ code: "BLOB_MISSING" });
      expect(await listed(blobs)).toEqual([]);
    });

    test("a blob that was written again since a time stays", async () => {
      const blobs = openInNewFolder();
      const sha256 = await blobs.put("x");

      expect(await blobs.remove(sha256, { before: Date.now() - 60_000 })).toBe(false);
      expect(await listed(blobs)).toHaveLength(1);
      expect(await blobs.remove(sha256, { before: Date.now() + 60_000 })).toBe(true);
      expect(await listed(blobs)).toEqual([]);
    });

    test("all blobs are listed with their size and age", async () => {
      const blobs = openInNewFolder();
      const before = Date.now() - 2_000;
      const names = [await blobs.put("a"), await blobs.put("bb"), await blobs.put("ccc")];

      const all = await listed(blobs);

      expect(all.map(({ sha256 }) => sha256).sort()).toEqual(names.sort());
      expect(all.every(({ modifiedAt }) => modifiedAt > before)).toBe(true);
    });
  });
}

interface Listed {
  readonly sha256: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

async function listed(blobs: Blobs): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  for await (const blob of blobs.list()) all.push(blob);
  return all;
}
