import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/first-workflow.md"), "utf8");

/** Instead of the registry: this package as it was built. */
const NPM = `npm() {
  if [ "$1" = i ]; then
    mkdir -p node_modules/.bin
    ln -s ${ROOT} node_modules/pawl
    ln -s ${join(ROOT, "node_modules/zod")} node_modules/zod
    ln -s ${join(ROOT, "bin/pawl.cjs")} node_modules/.bin/pawl
  else command npm "$@"; fi
}`;

test("the commands of the first workflow, in their order: a kill, a run that goes on, and a yes", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "home"));
  const commands = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => script);
  const [, program = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];
  writeFileSync(join(folder, "program.ts"), program);
  const script = commands.join("\n").replace("npm i pawl zod\n", "$&cp ../program.ts letters.ts\n");
  // A person sees when it asks, and reads the id.
  const asks = "until npx pawl approvals ls | grep 'pawl approve'; do :; done\nnpx pawl approvals ls\n";
  const answered = script
    .replace("npx pawl approvals ls\n", asks)
    .replace("approve RUN", "approve $(npx pawl approvals ls | grep -o 'approve [^ ]*' | tr -d \"'\" | cut -d' ' -f2)");
  expect(answered).toContain("kill -9");
  const child = spawn("bash", ["-eo", "pipefail", "-c", `exec 2>&1\n${NPM}\n${answered}\nwait`], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: join(folder, "home") },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  const output = text(child.stdout);
  const [code] = (await once(child, "exit")) as [number | null];
  const said = await output;
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("4 letters sent") });
  expect(said.split("writing to Ada")).toHaveLength(2);
  expect(said.split("writing to Dan")).toHaveLength(2);
  expect(existsSync(join(folder, "letters/.pawl"))).toBe(true);
});
