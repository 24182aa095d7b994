import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { writeExact } from "../../core/exact-json.ts";
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
  const flags = [
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    `--max-old-space-size=${heapMebibytes(options.memoryBytes)}`,
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

/** V8 says clearly that its heap is full; that is better than being killed by whoever watches the process. */
function heapMebibytes(memoryBytes: number): number {
  return Math.max(16, Math.floor((memoryBytes / 1024 / 1024) * 0.75));
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
