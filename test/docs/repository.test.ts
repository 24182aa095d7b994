import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = resolve(import.meta.dirname, "../..");
const readJson = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

test("every package of the lock file has a hash", () => {
  const { packages } = readJson("package-lock.json") as {
    packages: Record<string, { link?: true; integrity?: string }>;
  };
  const foreign = Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
  const without = foreign.filter(([, { integrity }]) => integrity === undefined);
  expect(without.map(([path]) => path)).toEqual([]);
  expect(foreign.length).toBeGreaterThan(500);
});

test("the package says where it comes from, and is published with its provenance", () => {
  expect(readJson("package.json")).toMatchObject({
    license: "Apache-2.0",
    repository: { type: "git", url: expect.stringMatching(/^git\+https:/) },
    bugs: { url: expect.stringMatching(/^https:/) },
    homepage: expect.stringMatching(/^https:/),
    funding: expect.stringMatching(/^https:/),
    keywords: expect.arrayContaining(["workflow"]),
    publishConfig: { provenance: true },
  });
});

test.each(globSync(".github/**/*.yml", { cwd: ROOT }))("%s can be read", (file) => {
  expect(parse(readFileSync(join(ROOT, file), "utf8"), { strict: true, uniqueKeys: true })).toBeTypeOf("object");
});

test("each script that a workflow runs is there", () => {
  const { scripts } = readJson("package.json");
  const text = globSync(".github/workflows/*.yml", { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), "utf8"));
  const names = [...text.join("\n").matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = ""]) => name);
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
});
