import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  readonly scripts: { readonly demo: string };
};

test("the demo of the README scores five companies and ends in a table of them", async () => {
  const args = scripts.demo
    .replace("node bin/pawl.cjs ", "")
    .split(" ")
    .map((arg) => arg.replace("examples/", `${ROOT}examples/`));
  const { code, stdout, stderr } = await pawl([...args, "--data", "data"], { cwd: application({}) });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).score).toMatchObject([78, 55, 12, 91, 84].map((score) => ({ score })));
  expect(stderr).toMatch(/^Dogwood Data +91 +Hiring 40 salespeople/m);
});
