import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

test.each(pages)("every path that %s names is there", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) =>
    resolve(root, dirname(page), path),
  );
  const named = [...text.matchAll(/`((?:src|test|bench|docs|scripts|bin|examples)\/[\w./-]*)`/g)].map(([, path = ""]) =>
    join(root, path),
  );
  expect([...linked, ...named].filter((path) => !existsSync(path))).toEqual([]);
});
