import { expect, test } from "vitest";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { changedMeanwhile } from "../../storage/storage-path.ts";
import { type Addition, appendRows } from "./append-rows.ts";

const addition = (key: string): Addition => ({
  key,
  rows: { columns: ["name"], rows: [{ name: "one" }] },
  keepsFormulas: false,
});

test("an addition that was refused is made, though another process has added the very same rows where it would have been", async () => {
  const memory = new MemoryFileStorage();
  await appendRows(memory, "a.csv", [addition("first")]);
  let isFaster = true;
  const files: FileStorage = Object.assign(Object.create(memory) as FileStorage, {
    read: memory.read.bind(memory),
    write: memory.write.bind(memory),
    sizeOf: memory.sizeOf.bind(memory),
    readRange: memory.readRange.bind(memory),
    extendsAtomically: true,
    extend: async (path: string, given: Parameters<FileStorage["extend"]>[1]) => {
      await memory.extend(path, given);
      if (!isFaster) return;
      isFaster = false;
      throw changedMeanwhile(path);
    },
  });
  const refused = new Set<string>();
  await expect(appendRows(files, "a.csv", [addition("mine")], refused)).rejects.toMatchObject({
    code: "STORAGE_CHANGED",
  });
  await appendRows(files, "a.csv", [addition("mine")], refused);
  expect(String(Buffer.from((await memory.read("a.csv")) ?? []))).toBe("name\r\none\r\none\r\none\r\n");
});
