// `node scripts/release-notes.ts VERSION`: prints what CHANGELOG.md says of the version, for the page of its release. Who reads it has a
// minute: a section of more than 40 lines is refused, and so is a version that has none.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MOST_LINES = 40;
const [version = "", file = join(import.meta.dirname, "../CHANGELOG.md")] = process.argv.slice(2);
const sections = readFileSync(file, "utf8").split(/^## /m).slice(1);
const section = sections.find((text) => text.startsWith(`[${version}]`));
if (version === "" || section === undefined) refuse(`${file} has no section "## [${version}]": write it first.`);
const [heading = "", ...rest] = section.split("\n");
if (/unreleased/i.test(heading)) refuse(`"## ${heading}" is not released: write its date.`);
const notes = rest.join("\n").trim();
const lines = notes.split("\n").length;
if (lines > MOST_LINES) refuse(`"## ${heading}" has ${lines} lines, and ${MOST_LINES} are read: shorten it.`);
console.log(notes);

function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}
