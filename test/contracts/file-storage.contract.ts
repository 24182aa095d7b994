import { describe, expect, test } from "vitest";
import type { FileStorage } from "../../src/ports/file-storage.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const FORBIDDEN: readonly string[] = [
  "",
  "/",
  "/etc/passwd",
  "..",
  "../x",
  "a/../../x",
  "a/..",
  "a/./b",
  ".",
  "a//b",
  "a/",
  "a\\b",
  "..\\x",
  "C:/x",
  "C:x",
  "a\0b",
  "x".repeat(201),
  "ü".repeat(150),
  `${"abc/".repeat(400)}x`,
  ".incoming/x",
];

/** What every file storage promises. */
export function describeFileStorageContract(name: string, { open }: { open(folder: string): FileStorage }): void {
  const openInNewFolder = () => open(temporaryFolder());

  describe(`${name}: file storage`, () => {
    test("a file is read as it was written", async () => {
      const storage = openInNewFolder();
      await storage.write("reports/2026/a.txt", "grün");
      expect(text(await storage.read("reports/2026/a.txt"))).toBe("grün");
    });

    test("a later write replaces the file", async () => {
      const storage = openInNewFolder();
      await storage.write("a", "old and long");
      await storage.write("a", new Uint8Array([110, 101, 119]));
      expect(text(await storage.read("a"))).toBe("new");
    });

    test("a file goes on where it is told to, and is read in parts", async () => {
      const storage = openInNewFolder();
      const add = (from: number, content: string) => storage.extend("a/b", { from, content: Buffer.from(content) });
      expect(await storage.sizeOf("a/b")).toBeUndefined();
      expect(text(await storage.readRange("a/b", { from: 0, to: 9 }))).toBe("");
      await add(0, "one,two");
      await add(7, ",three");
      expect(await storage.sizeOf("a/b")).toBe(13);
      await add(4, "2");
      expect(text(await storage.read("a/b"))).toBe("one,2");
      expect(text(await storage.readRange("a/b", { from: 2, to: 4 }))).toBe("e,");
      expect(text(await storage.readRange("a/b", { from: 4, to: 99 }))).toBe("2");
      await expect(add(6, "x")).rejects.toThrow("shorter");
      expect(await storage.sizeOf("a")).toBeUndefined();
    });

    test("what somebody else has changed meanwhile is not written over", async () => {
      const storage = openInNewFolder();
      const changed = { code: "STORAGE_CHANGED" };
      await storage.extend("a", { from: 0, content: Buffer.from("one"), length: 0 });
      await storage.extend("a", { from: 3, content: Buffer.from(",two"), length: 3 });

      await expect(storage.extend("a", { from: 3, content: Buffer.from(",late"), length: 3 })).rejects.toMatchObject(
        changed,
      );
      await expect(storage.write("a", "late", { length: 3 })).rejects.toMatchObject(changed);
      expect(text(await storage.read("a"))).toBe("one,two");
      await storage.write("a", "new", { length: 7 });
      await storage.write("a", "newer");
      expect(text(await storage.read("a"))).toBe("newer");
    });

    test("what is not there is undefined", async () => {
      const storage = openInNewFolder();
      await storage.write("folder/a", "x");
      expect(await storage.read("b")).toBeUndefined();
      expect(await storage.read("folder")).toBeUndefined();
      expect(await storage.read("folder/a/b")).toBeUndefined();
    });

    test("files are listed by prefix, sorted, and without unfinished ones", async () => {
      const storage = openInNewFolder();
      for (const path of ["b", "a/2", "a/1", "ab", "a/deep/er", ".hidden"]) await storage.write(path, path);

      const paths = async (prefix: string) => (await storage.list(prefix)).map(({ path }) => path);

      expect(await paths("")).toEqual([".hidden", "a/1", "a/2", "a/deep/er", "ab", "b"]);
      expect(await paths("a")).toEqual(["a/1", "a/2", "a/deep/er", "ab"]);
      expect(await paths("a/")).toEqual(["a/1", "a/2", "a/deep/er"]);
      expect(await paths("a/d")).toEqual(["a/deep/er"]);
      expect(await paths("nothing/here")).toEqual([]);
      expect(await storage.list("a/deep/er")).toMatchObject([{ bytes: 9, modifiedAt: expect.any(Number) }]);
    });

    test("removing says whether there was something", async () => {
      const storage = openInNewFolder();
      await storage.write("a/b", "x");

      expect(await storage.remove("a/b")).toBe(true);
      expect(await storage.remove("a/b")).toBe(false);
      expect(await storage.remove("a")).toBe(false);
      expect(await storage.read("a/b")).toBeUndefined();
    });

    test("a name that no file has any more may be a file's or a folder's", async () => {
      const storage = openInNewFolder();
      await storage.write("a/b/c", "x");
      await storage.remove("a/b/c");
      await storage.write("a/b", "y");
      await storage.remove("a/b");
      await storage.write("a", "z");
      expect(text(await storage.read("a"))).toBe("z");
    });

    test("whoever writes, removes and lists at once gets what each of them asked for", async () => {
      const storage = openInNewFolder();
      const work = Array.from({ length: 60 }, async (_, n) => {
        const path = `a/b${n % 3}/c${n % 5}`;
        await storage.write(path, `content ${n}`);
        for (const { bytes } of await storage.list("a/")) expect(bytes).toBeGreaterThan(8);
        await storage.remove(path);
      });
      await Promise.all(work);
      expect(await storage.list("")).toEqual([]);
    }, 60_000);

    test("a file and a folder cannot have the same name", async () => {
      const storage = openInNewFolder();
      await storage.write("a/b", "x");

      await expect(storage.write("a", "y")).rejects.toMatchObject({ code: "STORAGE_PATH_INVALID" });
      await expect(storage.write("a/b/c", "y")).rejects.toMatchObject({ code: "STORAGE_PATH_INVALID" });
      expect(text(await storage.read("a/b"))).toBe("x");
    });

    test.each(FORBIDDEN)("%j is refused", async (path) => {
      const storage = openInNewFolder();
      const refusal = { code: "STORAGE_PATH_INVALID" };

      await expect(storage.read(path)).rejects.toMatchObject(refusal);
      await expect(storage.write(path, "x")).rejects.toMatchObject(refusal);
      await expect(storage.remove(path)).rejects.toMatchObject(refusal);
      await expect(storage.sizeOf(path)).rejects.toMatchObject(refusal);
      await expect(storage.readRange(path, { from: 0, to: 1 })).rejects.toMatchObject(refusal);
      await expect(storage.extend(path, { from: 0, content: Buffer.from("x") })).rejects.toMatchObject(refusal);
    });

    test.each(["../", "/etc/", "a/../../b", "a\0"])("listing %j is refused", async (prefix) => {
      const storage = openInNewFolder();
      await expect(storage.list(prefix)).rejects.toMatchObject({ code: "STORAGE_PATH_INVALID" });
    });
  });
}

function text(content: Uint8Array | undefined): string | undefined {
  return content === undefined ? undefined : Buffer.from(content).toString("utf8");
}
