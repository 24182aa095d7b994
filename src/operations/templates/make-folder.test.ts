import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../../../test/end-to-end/support/application.ts";
import { layOutTerminalExamples } from "./lay-out-examples.ts";
import { makeFolder } from "./make-folder.ts";

test("folders are made with those above them, and may be there already", async () => {
  const folder = join(application({}), "a", "b", "c");
  await makeFolder(folder);
  await makeFolder(folder);
  expect(existsSync(folder)).toBe(true);
});

test("a place that takes no folders is told, and waited for by nobody", async () => {
  await expect(makeFolder("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(layOutTerminalExamples("/proc/x")).rejects.toMatchObject({
    code: "FOLDER_UNWRITABLE",
    remedy: expect.stringMatching(/./),
  });
});
