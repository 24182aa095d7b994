import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { readTextFile } from "./read-text-file.ts";

test("a path that leads through a file is not found", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await expect(readTextFile(join(file, "below"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});
