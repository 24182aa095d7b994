import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("the published schemas are what the dialects check", async () => {
  const script = fileURLToPath(new URL("../../scripts/generate-schemas.ts", import.meta.url));

  await expect(run(process.execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
});
