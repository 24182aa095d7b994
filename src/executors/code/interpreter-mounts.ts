import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import type { Visible } from "../sandbox/sandbox.ts";
import type { Python } from "./find-python.ts";

export type InterpreterMounts =
  | { readonly ok: true; readonly visible: readonly Visible[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Shows a script its Python: the folders that Python itself says it is installed in. One of them that is more than that (a
 * home, a folder with keys, one that holds the application or our data) is not shown; only the files that Python needs
 * of it are. `kept` are the folders that no mount may uncover: the application's and those of our data.
 */
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
