import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { writeExact } from "../../core/exact-json.ts";
import { namesIn } from "../sandbox/kernel/processes.ts";
import type { Visible } from "../sandbox/sandbox.ts";
import type { Convention } from "./choose-convention.ts";
import type { Python } from "./find-python.ts";
import { NODE_RUNNER } from "./runners/run-function-node.ts";
import { PYTHON_RUNNER } from "./runners/run-function-python.ts";
import type { StagedScript } from "./stage-script.ts";

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Called {
  readonly script: StagedScript;
  readonly convention: Convention;
  /** The function's name, as the step gives it. */
  readonly name: string | undefined;
}

/** Imports find what lies beside the script, then what lies in the application's folder. */
export function toPythonCommand({ executable }: Python, { script, convention, name }: Called): Command {
  const { path, root, cwd } = script;
  // Unbuffered, so that what was printed before a time-out is not lost; UTF-8 whatever the locale is.
  const flags = ["-B", "-u", "-X", "utf8"];
  if (convention.kind === "program") {
    const args = [...flags, "-s", path, ...(name === undefined ? [] : [name])];
    return { command: executable, args, env: { PYTHONPATH: cwd } };
  }
  const folders = [...new Set([dirname(path), root, cwd])];
  const packageName = relative(root, dirname(path)).split("/").join(".");
  return {
    command: executable,
    args: ["-I", ...flags, "-c", PYTHON_RUNNER, path, convention.name, packageName, ...folders],
    env: {},
  };
}

export function toNodeCommand(
  { script, convention, name }: Called,
  options: { readonly memoryBytes: number; readonly nodeModules: string | undefined },
): Command {
  const { nodeModules } = options;
  // V8 says clearly that its heap is full; that is better than being killed by the sandbox.
  const flags = [
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    `--max-old-space-size=${Math.max(16, Math.floor((options.memoryBytes / 1024 / 1024) * 0.75))}`,
    ...(!process.features.typescript ? ["--experimental-strip-types"] : []),
    ...(nodeModules === undefined ? [] : ["--import", toPackageFinder(nodeModules)]),
  ];
  const called =
    convention.kind === "program"
      ? [script.path, ...(name === undefined ? [] : [name])]
      : ["--input-type=commonjs", "-e", NODE_RUNNER, "--", script.path, convention.name];
  return {
    command: process.execPath,
    args: [...flags, ...called],
    env: nodeModules === undefined ? {} : { NODE_PATH: nodeModules },
  };
}

/** ES modules do not look into NODE_PATH: what is not found from the script is looked for from that folder. */
function toPackageFinder(nodeModules: string): string {
  const from = writeExact(pathToFileURL(`${dirname(nodeModules)}/any.js`).href);
  const source = `import { registerHooks } from "node:module";
registerHooks?.({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (/^[./]|:/.test(specifier)) throw error;
      return next(specifier, { ...context, parentURL: ${from} });
    }
  },
});`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

type InterpreterMounts =
  | { readonly ok: true; readonly visible: readonly Visible[] }
  | { readonly ok: false; readonly reason: string };

/** Shows a script its Python: the folders that Python names, but of folders with other contents only Python's files. `kept` stay covered. */
export function toPythonMounts({ prefixes, parts }: Python, kept: readonly string[]): InterpreterMounts {
  const whole = prefixes.filter((path) => !isShown(path) && !isMoreThanPackages(path, kept));
  const rest = parts.filter((path) => !isShown(path) && !whole.some((folder) => path.startsWith(`${folder}/`)));
  const shown = toMounts(rest, kept);
  return shown.ok ? { ok: true, visible: [...whole.map(toEntries), ...shown.visible] } : shown;
}

/** Shows these paths, if none of them is more than an interpreter and its packages. */
export function toMounts(paths: readonly string[], kept: readonly string[]): InterpreterMounts {
  const refused = paths.find((path) => isMoreThanPackages(path, kept));
  if (refused !== undefined) return { ok: false, reason: `scripts would see all of ${refused}` };
  return { ok: true, visible: paths.filter((path) => !isShown(path)).map((path) => ({ kind: "path", path })) };
}

function toEntries(path: string): Visible {
  return { kind: "entries", path };
}

/** Below /usr everything is to be seen already. */
function isShown(path: string): boolean {
  return `${path}/`.startsWith("/usr/") || !existsSync(path);
}

const FOLDERS_OF_HOMES = ["/home", "/Users", "/var/home"];
/** A folder with one of these holds more than an interpreter. */
const PRIVATE_NAMES = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config",
  ".netrc",
  ".git",
  ".env",
  ".pawl",
  ".profile",
  ".bashrc",
  ".bash_history",
  ".zshrc",
];

function isMoreThanPackages(path: string, kept: readonly string[]): boolean {
  const homes = [homedir(), process.env["HOME"] ?? "", "/root", ...FOLDERS_OF_HOMES];
  const holds = (folder: string) => folder !== "" && (folder === path || folder.startsWith(`${path}/`));
  if (path === "/" || FOLDERS_OF_HOMES.includes(dirname(path)) || [...homes, ...kept].some(holds)) return true;
  return basename(path) === ".ssh" || namesIn(path).some((name) => PRIVATE_NAMES.includes(name));
}
