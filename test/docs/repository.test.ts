import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

test("the notes of a release are its section of the changelog, which is short", () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-notes-"));
  const notesOf = (text: string) => {
    writeFileSync(join(folder, "CHANGELOG.md"), text);
    const asked = [join(ROOT, "scripts/release-notes.ts"), "1.2.0", join(folder, "CHANGELOG.md")];
    const { status, stdout, stderr } = spawnSync(process.execPath, asked, { encoding: "utf8" });
    return { status, said: status === 0 ? stdout : stderr };
  };
  const long = Array.from({ length: 41 }, (_, n) => `- ${n}`).join("\n");
  expect(notesOf("# C\n\n## [1.2.0] - 2026-12-01\n\n- One\n\n## [1.1.0] - 2026-11-01\n\n- Old\n")).toEqual({
    status: 0,
    said: "- One\n",
  });
  expect(notesOf(`## [1.2.0] - 2026-12-01\n\n${long}\n`)).toMatchObject({
    status: 1,
    said: expect.stringContaining("41 lines"),
  });
  expect(notesOf("## [1.2.0] - unreleased\n\n- One\n")).toMatchObject({
    status: 1,
    said: expect.stringContaining("date"),
  });
  expect(notesOf("## [1.1.0] - 2026-11-01\n")).toMatchObject({
    status: 1,
    said: expect.stringContaining("no section"),
  });
  rmSync(folder, { recursive: true });
});

test("what is to be released next has notes that are short enough", () => {
  const { version } = readJson("package.json");
  const [, section = ""] = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").split(`## [${version}]`);
  expect((section.split(/^## /m)[0] ?? "").trim().split("\n").length).toBeLessThanOrEqual(41);
});

test("each command of a workflow can be read by the shell that runs it, and names files that are there", () => {
  for (const file of globSync(".github/workflows/*.yml", { cwd: ROOT })) {
    const { jobs } = parse(readFileSync(join(ROOT, file), "utf8")) as {
      jobs: Record<string, { steps: { run?: string }[] }>;
    };
    for (const run of Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.run ?? []))) {
      const { status, stderr } = spawnSync("bash", ["-n", "-c", run.replaceAll(/\$\{\{.*?\}\}/g, "x")], {
        encoding: "utf8",
      });
      expect({ run, status, stderr }).toEqual({ run, status: 0, stderr: "" });
      for (const [path] of run.matchAll(/\b(?:scripts|test)\/[\w./-]+\.\w+/g))
        expect(existsSync(join(ROOT, path))).toBe(true);
    }
  }
});

test("each script that a workflow runs is there", () => {
  const { scripts } = readJson("package.json");
  const text = globSync(".github/workflows/*.yml", { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), "utf8"));
  const names = [...text.join("\n").matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = ""]) => name);
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
});
