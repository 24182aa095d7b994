// Holds the first load of the pages below its budget: the script that the first page needs before it shows anything, as gzip.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BUDGET_BYTES = 200_000;
const built = new URL("../dist/web/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", built), "utf8"));

/** The files of an entry and of all that it imports at once; what it imports later is not in it. */
function filesOf(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const other of manifest[name].imports ?? []) filesOf(other, seen);
  return seen;
}

const first = new Set([...filesOf("index.html"), ...filesOf("views/runs/runs-view.tsx")]);
const bytes = [...first].reduce(
  (sum, name) => sum + gzipSync(readFileSync(new URL(manifest[name].file, built))).length,
  0,
);
console.log(`First load: ${Math.round(bytes / 1_000)} kB of script as gzip; the budget is ${BUDGET_BYTES / 1_000} kB.`);
if (bytes > BUDGET_BYTES) process.exit(1);
