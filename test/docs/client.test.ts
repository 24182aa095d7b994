import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("the types of the client are those of the server's document", async () => {
  const script = fileURLToPath(new URL("../../scripts/generate-client.ts", import.meta.url));
  await expect(run(process.execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
});
