import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { TextFileCache } from "./read-text-file.ts";

test("a file is what it is now, changed, gone and come back", async () => {
  const path = join(temporaryFolder(), "answers.yaml");
  const texts = new TextFileCache();
  await expect(texts.read(path)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  writeFileSync(path, "one");
  expect([await texts.read(path), await texts.read(path)]).toEqual(["one", "one"]);
  writeFileSync(path, "two");
  expect(await texts.read(path)).toBe("two");
  rmSync(path);
  await expect(texts.read(path)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});

test("a path that leads through a file is not found", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await expect(new TextFileCache().read(join(file, "below"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});
