// Bundles what is published into a handful of files in `dist`, because a start costs what the number of its files costs.
// What one `pawl run` loads lies in one chunk and nothing else does; what a server loads beyond it in a second one. Both lists
// are taken from the sources as they run. Not minified, so that stack traces keep their names without maps.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";

const ROOT = resolve(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");
const RUN = `name: one
steps:
  - id: only
    prompt: Say {input.word}.
`;

/**
 * Programs of their own, each in one file: threads, the process that holds terminals, what is loaded by name, and what the package
 * exports: `pawl/client`, and `pawl`, which defines workflows and loads the engine only where it is opened.
 */
const ALONE: Readonly<Record<string, string>> = {
  pawl: join(ROOT, "src/embed/pawl.ts"),
  client: join(ROOT, "src/client/pawl-client.ts"),
  "thread-schemas": join(ROOT, "src/schemas/thread-main.ts"),
  "thread-compile": join(ROOT, "src/operations/definitions/compile/thread-main.ts"),
  "thread-storage": join(ROOT, "src/app/storage-thread/thread-main.ts"),
  "pty-host": join(ROOT, "src/executors/terminal/pty-host/main.ts"),
  acorn: "acorn",
  re2js: "re2js",
  "string-width": "string-width",
};

/** Not bundled: what is compiled for a machine, and what only some install. */
const EXTERNAL = /^(@lydell\/node-pty|@aws-sdk\/|@restatedev\/)/;

const NO_SPANS = "\0no-spans";
const LICENSES = new Set(["MIT", "MIT-0", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "PSF-2.0"]);

/** Libraries that one feature brings together. */
const FAMILIES: readonly (readonly [name: string, libraries: RegExp])[] = [
  ["html", /html|^(@selderee|selderee|parseley|leac|peberminta|deepmerge-ts|dom.*|entities)$/],
  ["markdown", /^(markdown-it|linkify-it|mdurl|uc\.micro|punycode\.js)$/],
  ["redis", /redis|^(denque|cluster-key-slot|standard-as-callback|debug|ms|supports-color|has-flag)$/],
  ["screen", /ansi|string-(truncated-)?width|^(@clack|get-east-asian-width)$/],
  ["spawn", /^(cross-spawn|which|isexe|path-key|shebang-.*)$/],
  ["pg", /^(pg.*|split2)$/],
  ["schemas", /^(ajv.*|fast-uri|fast-deep-equal|json-schema-traverse)$/],
];

const [serve, ...runs] = await Promise.all([traceServe(), ...[[], ["--json"], ["--json=lines"]].map(traceRun)]);
const traced = { run: new Set(runs.flatMap((modules) => [...modules])), serve };
for (const name of readdirSync(DIST)) if (name.endsWith(".js")) rmSync(join(DIST, name));
const alone = await Promise.all(Object.entries(ALONE).map(([name, path]) => bundle({ [name]: path })));
const chunks = await bundle({ main: join(ROOT, "src/main.ts"), engine: join(ROOT, "src/embed/engine.ts") }, chunkOf);
for (const chunk of chunks) refuseStray(chunk);
writeNotices([...alone.flat(), ...chunks].flatMap(({ moduleIds }) => moduleIds));
for (const [program, entry] of [
  ["client", "client/pawl-client"],
  ["pawl", "embed/pawl"],
] as const) {
  copyTypes(`${entry}.d.ts`);
  await writeCommonTypes(program, entry);
}

const written = readdirSync(DIST).filter((name) => name.endsWith(".js"));
const bytes = written.reduce((sum, name) => sum + statSync(join(DIST, name)).size, 0);
console.log(`dist: ${written.length} files of ${Math.round(bytes / 1_000).toLocaleString("en")} kB`);

async function bundle(input: Record<string, string>, toChunk?: (id: string) => string): Promise<OutputChunk[]> {
  const build = await rolldown({
    input,
    cwd: ROOT,
    platform: "node",
    external: EXTERNAL,
    preserveEntrySignatures: "allow-extension",
    plugins: [forBundle(toChunk)],
    checks: { ineffectiveDynamicImport: false },
    logLevel: "warn",
  });
  const { output } = await build.write({
    dir: DIST,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: ({ moduleIds: [first = ""] }) =>
      `${first.includes("rolldown/runtime") ? "runtime" : toChunk?.(first)}-[hash].js`,
    strictExecutionOrder: true,
    codeSplitting: toChunk !== undefined && {
      includeDependenciesRecursively: false,
      groups: [{ name: toChunk, debugName: "chunks" }],
    },
  });
  await build.close();
  return output.filter((each): each is OutputChunk => each.type === "chunk");
}

function chunkOf(id: string): string {
  if (traced.run.has(id)) return "run";
  if (traced.serve.has(id)) return "serve";
  // A feature that is used brings its own folder, and no other.
  const own = /^(?:src|packages)\/(\w+)(?:\/([\w-]+))?\//.exec(relative(ROOT, id));
  if (own !== null) return own.slice(1).filter(Boolean).join("-");
  const library = /.*node_modules\/(@[^/]+|[^/]+)\//.exec(id)?.[1] ?? "builtins";
  return FAMILIES.find(([, names]) => names.test(library))?.[0] ?? library;
}

/** A static import of something that is not installed would stop every start. */
function refuseStray({ fileName, moduleIds: [first = ""], imports }: OutputChunk): void {
  const name = chunkOf(first);
  const stray = imports.filter((path) =>
    EXTERNAL.test(path)
      ? !/^(storage-s3|hosts-restate|app-restate)$/.test(name)
      : name === "run" && !/^(node:|runtime-)/.test(path),
  );
  if (stray.length > 0) throw new Error(`${fileName} imports ${stray.join(", ")}: see scripts/build.ts.`);
}

/**
 * What a bundle changes: paths to files of the package start at `dist`; a program of its own and what is loaded by name are
 * files there; an import later on within one chunk is a call, not a chunk of its own.
 */
function forBundle(toChunk?: (id: string) => string): Plugin {
  const programs = new Map(Object.entries(ALONE).map(([name, path]) => [path, name]));
  return {
    name: "for-bundle",
    resolveId: {
      filter: { id: /^(@opentelemetry\/api|\.\/engine\.ts)$/ },
      // The counter of processor time asks it for a span that no one begins.
      handler: (id) => (id.startsWith("@") ? NO_SPANS : { id: "./engine.js", external: true }),
    },
    load: {
      filter: { id: new RegExp(NO_SPANS) },
      handler: () => "export const trace = { getSpan: () => undefined }, context = { active: () => undefined };",
    },
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code, id) {
        const inFolder = (path: string) => join(dirname(id), path);
        return code
          .replaceAll(/createRequire\(import\.meta\.url\)\("(.*?)"\)/g, 'createRequire(import.meta.url)("./$1.js")')
          .replaceAll(/new URL\((["`])([^"`]*)\1, import\.meta\.url\)/g, (_, quote: string, path: string) => {
            const program = programs.get(inFolder(path));
            const target = program === undefined ? `../${toRoot(id, path)}` : `./${program}.js`;
            return `new URL(${quote}${target}${quote}, import.meta.url)`;
          })
          .replaceAll(/(?<!typeof )\bimport\("(\.[^"]*\.ts)"\)/g, (whole, path: string) =>
            toChunk !== undefined && toChunk(inFolder(path)) === toChunk(id)
              ? `Promise.resolve().then(() => require("${path}"))`
              : whole,
          );
      },
    },
  };
}

/** A path that climbs from a source to the root of the package, without the climb. */
function toRoot(id: string, path: string): string {
  const below = path.replace(/^(\.\.\/)+/, "");
  const climbed = resolve(dirname(id), path.slice(0, path.length - below.length));
  if (climbed !== ROOT) throw new Error(`${relative(ROOT, id)}: ${path} does not start at the package's root.`);
  return below;
}

/** Bundling a library owes the text of its licence. Throws for one that is not in `LICENSES`. */
function writeNotices(ids: readonly string[]): void {
  const folders = new Set(ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly [field in "name" | "version" | "license"]: string;
    };
    if (!LICENSES.has(license)) throw new Error(`${name} has the licence ${license}: see scripts/build.ts.`);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const said =
      file === undefined ? `The package names its licence only: ${license}.` : readFileSync(join(folder, file), "utf8");
    return `## ${name} ${version} (${license})\n\n${said.trim()}\n`;
  });
  const head =
    "# What is bundled in Pawl\n\nEach library with its licence. Those of the pages are in `web/THIRD-PARTY.md`.\n";
  writeFileSync(join(DIST, "THIRD-PARTY.md"), [head, ...notices].join("\n"));
}

/** The declarations that an export of the package needs, of all that tsc writes. */
function copyTypes(entry: string): void {
  const target = join(DIST, dirname(entry));
  rmSync(target, { recursive: true, force: true });
  const found = new Set([join(DIST, "types", entry)]);
  for (const path of found) {
    const declared = readFileSync(path, "utf8");
    cpSync(path, join(target, relative(join(DIST, "types"), path)));
    for (const [, imported = ""] of declared.matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g)) {
      found.add(join(dirname(path), `${imported}.d.ts`));
    }
  }
}

/** The same for CommonJS, which `node16` lets import no module: Node itself requires one, since 22.12. */
async function writeCommonTypes(program: string, entry: string): Promise<void> {
  const own = `"./${basename(entry)}.js" with { "resolution-mode": "import" }`;
  const values = Object.entries<unknown>(await import(pathToFileURL(join(DIST, `${program}.js`)).href));
  const lines = values.flatMap(([name, value]) => [
    `export declare const ${name}: typeof whole.${name};`,
    ...(/^class\b/.test(String(value)) ? [`export type ${name} = whole.${name};`] : []),
  ]);
  const text = [`import type * as whole from ${own};`, `export type * from ${own};`, ...lines, ""].join("\n");
  writeFileSync(join(DIST, dirname(entry), `${entry}.d.cts`), text);
}

/** The modules that a run of one step loads. */
function traceRun(options: readonly string[]): Promise<ReadonlySet<string>> {
  return trace((folder) => {
    writeFileSync(join(folder, "one.yaml"), RUN);
    writeFileSync(join(folder, "script.yaml"), "delay_ms: 0\nsteps:\n  only: { reply: one }\n");
    return ["run", "one.yaml", "-i", "word=hi", "--agent", "simulated:script.yaml", ...options];
  });
}

/** The modules of a server that has come up. */
function traceServe(): Promise<ReadonlySet<string>> {
  return trace(() => ["serve", "--port", "0"]);
}

async function trace(prepare: (folder: string) => readonly string[]): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-build-"));
  try {
    const args = ["--import", join(ROOT, "scripts/record-modules.mjs"), join(ROOT, "src/main.ts"), ...prepare(folder)];
    const env = { ...process.env, PAWL_MODULES: join(folder, "modules") };
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "exit");
    const errors = text(child.stderr);
    // A server that listens has loaded what it needs.
    for await (const line of createInterface(child.stdout)) if (/http:\/\/.*:\d+/.test(line)) child.kill();
    const [code] = await ended;
    if (code !== 0) throw new Error(`pawl ${args.slice(3).join(" ")} ended with ${code}: ${await errors}`);
    return new Set(readFileSync(join(folder, "modules"), "utf8").split("\n"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
