import { statSync } from "node:fs";
import { dirname, extname, join } from "node:path";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders that go before all others on its PATH. */
  readonly firstOnPath: readonly string[];
}

/**
 * Chooses the program for a server's file by its extension: Python with `python` (an interpreter, or the folder of a venv; else
 * the one on the PATH), JavaScript and TypeScript with the Node that we run on, shell scripts with bash, anything else by
 * itself.
 */
export function toProgram(path: string, python: string | undefined): Program {
  switch (extname(path).toLowerCase()) {
    case ".py":
      return runPython(path, python);
    case ".js":
    case ".mjs":
    case ".cjs":
      return { ...PLAIN, command: process.execPath, args: [path] };
    case ".ts":
    case ".mts":
    case ".cts":
      return { ...PLAIN, command: process.execPath, args: [...typesAreStripped(), path] };
    case ".sh":
      return { ...PLAIN, command: "bash", args: [path] };
    default:
      return { ...PLAIN, command: path, args: [] };
  }
}

const PLAIN = { env: {}, firstOnPath: [] } as const;

/** Output must not be buffered: it is all that a failure can show. */
const PYTHON_ENV = { PYTHONUNBUFFERED: "1" } as const;

function runPython(path: string, python: string | undefined): Program {
  const isWindows = process.platform === "win32";
  if (python === undefined)
    return { command: isWindows ? "python" : "python3", args: [path], env: PYTHON_ENV, firstOnPath: [] };
  if (!isFolder(python)) return { command: python, args: [path], env: PYTHON_ENV, firstOnPath: [] };
  const command = isWindows ? join(python, "Scripts", "python.exe") : join(python, "bin", "python");
  return { command, args: [path], env: { ...PYTHON_ENV, VIRTUAL_ENV: python }, firstOnPath: [dirname(command)] };
}

/** A missing path counts as a venv, so that the message names the interpreter that is missing in it. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? !/python[\d.]*(\.exe)?$/i.test(path);
}

/** Node 22 asks for it. */
function typesAreStripped(): readonly string[] {
  return process.features.typescript === false ? ["--experimental-strip-types"] : [];
}
