import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test.each([
  ["docs/errors.md", "generate-error-docs.ts"],
  ["docs/settings.md", "generate-settings-docs.ts"],
  ["docs/every-operation.md", "generate-operations-docs.ts"],
  ["docs/api.md", "generate-api.ts"],
])("%s is what its table says", async (_, name) => {
  const script = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

  await expect(run(process.execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
});
