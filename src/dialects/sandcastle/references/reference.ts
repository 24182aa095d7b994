import { didYouMean, isMisspelt } from "../../did-you-mean.ts";
/** The meaning of `{...}` or of a bare path. */
export type Reference =
  /** `_item` and `_index` of a fan-out arrive here too, as the first of `path`. */
  | { readonly to: "input"; readonly path: Path }
  | { readonly to: "step"; readonly step: string; readonly path: Path }
  | { readonly to: "item"; readonly path: Path }
  | { readonly to: "storage"; readonly file: string }
  | { readonly to: "run"; readonly field: "id" | "date" }
  | { readonly to: "env"; readonly name: string };

export type Path = readonly (string | number)[];

/**
 * Reads what stands between braces: `input.X[.Y]`, `steps.ID.output[.FIELD]`, `item[.X]`, `storage.PATH`, `run_id`, `date`.
 * Undefined for everything else, which stays the text it is. `X[0]` is the same as `X.0`.
 */
export function parseReference(text: string): Reference | undefined {
  if (text === "run_id") return { to: "run", field: "id" };
  if (text === "date") return { to: "run", field: "date" };
  if (text.startsWith("storage.")) return parseStorage(text.slice("storage.".length));
  const [root, ...rest] = text.replace(/\[([0-9]+)\]/g, ".$1").split(".");
  if (!rest.every((part) => PATH_PART.test(part))) return undefined;
  if (root === "input") return rest.length === 0 ? undefined : { to: "input", path: toPath(rest) };
  if (root === "item") return { to: "item", path: toPath(rest) };
  const [step, output, ...path] = rest;
  return root === "steps" && step !== undefined && output === "output"
    ? { to: "step", step, path: toPath(path) }
    : undefined;
}

/** Suggests a reference for a text that almost is one. */
export function correctReference(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed !== text && parseReference(trimmed) !== undefined) return trimmed;
  const [root = "", ...rest] = text.split(".");
  if (rest.length === 0 || rest.some((part) => !PATH_PART.test(part))) return undefined;
  const known = NEAR_ROOTS.get(root.toLowerCase()) ?? didYouMean(root, ["input", "steps"]) ?? root;
  const [step, output = "", ...path] = rest;
  const isSlip = isMisspelt(output, ["output"]);
  const corrected =
    known === "steps" && output !== "output"
      ? ["steps", step, "output", ...(isSlip ? path : rest.slice(1))]
      : [known, ...rest];
  const result = corrected.join(".");
  return result !== text && parseReference(result) !== undefined ? result : undefined;
}

const PATH_PART = /^[^\s"'`:,{}[\]]+$/;

const NEAR_ROOTS: ReadonlyMap<string, string> = new Map([
  ["input", "input"],
  ["inputs", "input"],
  ["step", "steps"],
  ["steps", "steps"],
]);

function parseStorage(file: string): Reference | undefined {
  return file.trim() === file && file !== "" ? { to: "storage", file } : undefined;
}

function toPath(parts: readonly string[]): Path {
  return parts.map((part) => (/^(0|[1-9][0-9]{0,8})$/.test(part) ? Number(part) : part));
}

/** Absolute, or with `..` in it. The storage refuses such a path; here it can be said before the run. */
export function leavesStorage(path: string): boolean {
  return /^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(path);
}
