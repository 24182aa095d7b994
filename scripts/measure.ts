// Prints how large and how readable the code is, a row for each thing that can be counted. `npm run measure -- --run` also
// runs one example under V8 coverage and prints how many files and lines it needs. `--check` compares with what
// `scripts/size.json` allows, and fails where the code is larger.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = resolve(import.meta.dirname, "..");
const LONGEST_FILES = 10;
const FRAGMENT_LINES = 60;
const TINY_LINES = 30;
const FILES_SIDE_BY_SIDE = 20;
const RIDDLE_WORDS = /^(Of|What|As|Who|Whoever|Where)\b/;
const SIZE = "scripts/size.json";
const SPINE_DOCUMENT = "docs/architecture.md";
const RUN = [
  ...["run", "examples/lead-enrichment.yaml", "--input", "examples/lead-enrichment.input.json"],
  ...["--agent", "simulated"],
];
/** The heading, whatever its level, that contains this word is followed by the list of the files of the spine. */
const SPINE_HEADING = /^#+ .*\bspine\b/i;

interface SourceFile {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly tree: ts.SourceFile;
}

const files = readSources("src");
const packages = readdirSync(join(ROOT, "packages")).flatMap((name) => readSources(`packages/${name}/src`));

if (process.argv.includes("--check")) checkSize();
else printAll();

function printAll(): void {
  printLines();
  printFolders();
  printImporters();
  printThrows();
  printTypeHoles();
  printComments();
  printSpine();
  if (process.argv.includes("--run")) {
    printRun();
    printPackage();
  }
}

/** The code grows only where somebody says so, in the same commit. */
function checkSize(): void {
  const allowed = JSON.parse(readFileSync(join(ROOT, SIZE), "utf8")) as Readonly<Record<string, number>>;
  const { own, modules } = measureRun();
  // Timers come sooner or later: a few lines of a run are executed, or not.
  const found = {
    "lines of src without tests": sum(files),
    "lines of src and packages": sum(files) + sum(packages),
    "lines that one run executes": Math.floor(sum(own) / 50) * 50,
    "modules that one run loads": modules,
  };
  for (const [what, count] of Object.entries(found)) {
    const most = allowed[what] ?? 0;
    row(what, `${number(count)} (${number(most)} allowed)`);
    if (count <= most) continue;
    console.error(`Take as much away elsewhere, or raise "${what}" in ${SIZE} in the same commit and say why.`);
    process.exitCode = 1;
  }
}

function printLines(): void {
  heading("Lines of src without tests");
  row("all", `${number(sum(files))} in ${number(files.length)} files`);
  row("with packages", number(sum(files) + sum(packages)));
  row("surfaces + client", number(sum(files.filter(isIn("surfaces", "client")))));
  for (const [folder, inside] of groupBy(files, ({ path }) => path.split("/").slice(0, 2).join("/"))) {
    row(`  ${folder}`, number(sum(inside)));
  }
  row(`files under ${TINY_LINES} lines`, number(files.filter(({ lines }) => lines < TINY_LINES).length));
  heading("Longest files");
  const byLength = files.toSorted((a, b) => b.lines - a.lines);
  for (const { path, lines } of byLength.slice(0, LONGEST_FILES)) row(`  ${path}`, number(lines));
}

/** Tests beside the code stand in a reader's way too, but a folder is judged by its ideas: they are not counted. */
function printFolders(): void {
  const crowded = groupBy(files, ({ path }) => dirname(path)).filter(
    ([, inside]) => inside.length > FILES_SIDE_BY_SIDE,
  );
  heading(`Folders with more than ${FILES_SIDE_BY_SIDE} files side by side: ${crowded.length}`);
  for (const [folder, inside] of crowded.toSorted((a, b) => b[1].length - a[1].length)) {
    row(`  ${folder}`, number(inside.length));
  }
}

/** Imports are read from the text: static and dynamic ones, and re-exports; types count like values. */
function printImporters(): void {
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    for (const imported of importsOf(file))
      importers.set(imported, (importers.get(imported) ?? new Set()).add(file.path));
  }
  const single = files.flatMap((file) => {
    const [importer, ...others] = importers.get(file.path) ?? [];
    return importer === undefined || others.length > 0 ? [] : [{ ...file, importer }];
  });
  const beside = single.filter(
    ({ path, lines, importer }) => lines <= FRAGMENT_LINES && dirname(path) === dirname(importer),
  );
  heading("Files with exactly one importer");
  row("all", number(single.length));
  row(`at most ${FRAGMENT_LINES} lines`, number(single.filter(({ lines }) => lines <= FRAGMENT_LINES).length));
  row(`at most ${FRAGMENT_LINES} lines, beside the importer`, `${beside.length} (${number(sum(beside))} lines)`);
  if (process.argv.includes("--list")) {
    for (const { path, lines, importer } of beside) row(`  ${path} (for ${basename(importer)})`, number(lines));
  }
}

function printThrows(): void {
  const thrown = nodesOf(files, ts.isThrowStatement);
  const plain = thrown.filter(
    ({ expression }) => ts.isNewExpression(expression) && expression.expression.getText() === "Error",
  );
  heading("Errors");
  row("plain `Error` among throws", `${plain.length} of ${thrown.length} (${percent(plain.length, thrown.length)})`);
}

function printTypeHoles(): void {
  heading("Types");
  const holes = nodesOf(files, (node): node is ts.Node => node.kind === ts.SyntaxKind.AnyKeyword);
  row("`any`", number(holes.length));
  row("`!`", number(nodesOf(files, ts.isNonNullExpression).length));
  const casts = nodesOf(files, ts.isAsExpression).filter(({ type }) => type.getText() !== "const");
  row("`as`", number(casts.length));
}

/** Line comments below each other are one comment. */
function printComments(): void {
  const comments = files.flatMap((file) => commentsOf(file.tree));
  const riddles = comments.filter((comment) => RIDDLE_WORDS.test(comment));
  heading("Comments");
  const share = percent(riddles.length, comments.length);
  row(
    "that begin with Of, What, As, Who, Whoever, Where",
    `${riddles.length} of ${number(comments.length)} (${share})`,
  );
}

function printSpine(): void {
  heading("The way of a run as one reads it");
  const listed = readSpine();
  if (listed.length === 0) return row("files / lines", `not listed in ${SPINE_DOCUMENT}`);
  const spine = listed.map((path) => readSource(path));
  row("files / lines", `${spine.length} / ${number(sum(spine))}`);
  for (const { path, lines } of spine) row(`  ${path}`, number(lines));
}

/** The first file that each line below the heading names. */
function readSpine(): string[] {
  const lines = readFileSync(join(ROOT, SPINE_DOCUMENT), "utf8").split("\n");
  const start = lines.findIndex((line) => SPINE_HEADING.test(line));
  if (start === -1) return [];
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line));
  const section = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length);
  return [...new Set(section.flatMap((line) => /src\/[\w./-]+\.ts/.exec(line) ?? []))];
}

/**
 * Runs the command line from source in a fresh data directory. A file is entered if a function of it was called, beside
 * the evaluation of the module. A line is executed if it lies in the innermost range that V8 counted at least once, within
 * such a function, and holds code; lines of imports, types and what a module evaluates when it is loaded are not counted.
 */
function measureRun(): {
  readonly own: readonly { readonly path: string; readonly lines: number }[];
  readonly modules: number;
} {
  const folder = mkdtempSync(join(tmpdir(), "pawl-measure-"));
  try {
    const args = ["src/main.ts", ...RUN, "--data", join(folder, "data")];
    const env = { ...process.env, NODE_V8_COVERAGE: join(folder, "coverage") };
    const ended = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
    if (ended.status !== 0) throw new Error(`pawl ${RUN.join(" ")} ended with ${ended.status}:\n${ended.stderr}`);
    const covered = [...readCoverage(join(folder, "coverage"))];
    const own = covered
      .filter(([path]) => path.startsWith("src/"))
      .map(([path, functions]) => ({ path, lines: executedLines(readSource(path), functions) }));
    return { own, modules: covered.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printRun(): void {
  const { own, modules } = measureRun();
  const entered = own.filter(({ lines }) => lines > 0);
  heading(`One \`pawl ${RUN.slice(0, 2).join(" ")} --agent simulated\` under V8 coverage`);
  row("modules loaded, from source, with those of libraries", number(modules));
  row("files of src loaded", number(own.length));
  row("files of src entered / lines executed", `${entered.length} / ${number(sum(entered))}`);
  if (!process.argv.includes("--list")) return;
  for (const file of entered.toSorted((a, b) => b.lines - a.lines)) row(`  ${file.path}`, number(file.lines));
}

/** As `npm pack` would pack it, of what was built last. */
function printPackage(): void {
  const packed = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT, encoding: "utf8" });
  const [{ entryCount, size, unpackedSize }] = JSON.parse(packed.stdout) as readonly [
    { readonly entryCount: number; readonly size: number; readonly unpackedSize: number },
  ];
  heading("The published package");
  row("files / MB packed / MB unpacked", `${entryCount} / ${megabytes(size)} / ${megabytes(unpackedSize)}`);
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

interface CoveredFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
}

function readCoverage(folder: string): Map<string, CoveredFunction[]> {
  const covered = new Map<string, CoveredFunction[]>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      readonly result: readonly { readonly url: string; readonly functions: readonly CoveredFunction[] }[];
    };
    for (const { url, functions } of result) {
      if (!url.startsWith("file:")) continue;
      const path = relative(ROOT, fileURLToPath(url));
      covered.set(path, [...(covered.get(path) ?? []), ...functions]);
    }
  }
  return covered;
}

function executedLines({ text, tree }: SourceFile, functions: readonly CoveredFunction[]): number {
  const executed = new Uint8Array(text.length);
  // Node keeps the offsets when it strips types, so they are those of the source. Outer functions come before inner ones,
  // and the ranges of a function from the outermost to the innermost: the last to speak of a character is right.
  for (const { ranges } of functions.filter((each) => !isModule(each, text))) {
    for (const { startOffset, endOffset, count } of ranges) executed.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  const lines = new Set<number>();
  forEachToken(tree, (token) => {
    const start = token.getStart(tree);
    if (executed[start] === 1) lines.add(tree.getLineAndCharacterOfPosition(start).line);
  });
  return lines.size;
}

function isModule({ functionName, ranges: [whole] }: CoveredFunction, text: string): boolean {
  return functionName === "" && whole?.startOffset === 0 && whole.endOffset >= text.length - 1;
}

function readSources(folder: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name))
    .map((entry) => readSource(relative(ROOT, join(entry.parentPath, entry.name))))
    .sort((a, b) => a.path.localeCompare(b.path));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), "utf8");
  let tree: ts.SourceFile | undefined;
  return {
    path: path.replaceAll("\\", "/"),
    text,
    lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
    get tree() {
      tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return tree;
    },
  };
}

function importsOf({ path, tree }: SourceFile): Set<string> {
  const imported = new Set<string>();
  const add = (specifier: ts.Node | undefined) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith(".")) return;
    imported.add(join(dirname(path), specifier.text));
  };
  forEachNode(tree, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal);
    // `new Worker(new URL("./worker.ts", import.meta.url))` needs its file as well.
    else if (ts.isNewExpression(node) && node.expression.getText() === "URL") add(node.arguments?.[0]);
  });
  return imported;
}

function commentsOf(tree: ts.SourceFile): string[] {
  const ranges = new Map<number, ts.CommentRange>();
  forEachToken(tree, (token) => {
    for (const range of ts.getLeadingCommentRanges(tree.text, token.pos) ?? []) ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(tree.text, token.end) ?? []) ranges.set(range.pos, range);
  });
  const comments: string[] = [];
  let before: ts.CommentRange | undefined;
  for (const range of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    if (before === undefined || !continues(before, range, tree.text)) {
      comments.push(tree.text.slice(range.pos, range.end).replace(/^(\/\/|\/\*+)\s*(\*\s*)?/, ""));
    }
    before = range;
  }
  return comments;
}

function continues(before: ts.CommentRange, range: ts.CommentRange, text: string): boolean {
  if (before.kind !== ts.SyntaxKind.SingleLineCommentTrivia || range.kind !== before.kind) return false;
  return /^\r?\n[ \t]*$/.test(text.slice(before.end, range.pos));
}

function nodesOf<Kind extends ts.Node>(from: readonly SourceFile[], isKind: (node: ts.Node) => node is Kind): Kind[] {
  const found: Kind[] = [];
  for (const { tree } of from) {
    forEachNode(tree, (node) => {
      if (isKind(node)) found.push(node);
    });
  }
  return found;
}

function forEachNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => forEachNode(child, visit));
}

/** Tokens include braces and keywords, which are no nodes to `ts.forEachChild`. */
function forEachToken(node: ts.Node, visit: (token: ts.Node) => void): void {
  const children = node.getChildren();
  if (children.length === 0) visit(node);
  for (const child of children) if (!ts.isJSDoc(child)) forEachToken(child, visit);
}

function isIn(...folders: readonly string[]): (file: SourceFile) => boolean {
  return ({ path }) => folders.some((folder) => path.startsWith(`src/${folder}/`));
}

function groupBy(from: readonly SourceFile[], keyOf: (file: SourceFile) => string): [string, SourceFile[]][] {
  return [...Map.groupBy(from, keyOf)];
}

function sum(from: readonly { readonly lines: number }[]): number {
  return from.reduce((total, { lines }) => total + lines, 0);
}

function heading(text: string): void {
  console.log(`\n${text}`);
}

function row(name: string, value: string): void {
  console.log(`${name.padEnd(64)} ${value}`);
}

function number(value: number): string {
  return value.toLocaleString("en");
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}
