import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("docs/errors.md is what the table of errors says", async () => {
  const script = fileURLToPath(new URL("../../scripts/generate-error-docs.ts", import.meta.url));

  await expect(run(process.execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
});
