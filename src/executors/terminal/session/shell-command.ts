import { resolve } from "node:path";
import { findProgram } from "../find-program.ts";

export interface ShellCommand {
  /** As it was written. */
  readonly program: string;
  readonly args: readonly string[];
}

/** What stands for a program where the system does not have it under its name. */
const STAND_INS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  python: ["python3"],
  pdb: ["python3", "-m", "pdb"],
  vi: ["vim"],
};

const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** Words between spaces; quotes hold some together. No shell reads it, so nothing is expanded. `undefined`: no words. */
export function parseShellCommand(text: string): ShellCommand | undefined {
  const words = [...text.matchAll(WORD)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
  const [program, ...args] = words;
  return program === undefined || program === "" ? undefined : { program, args };
}

/** With the program's place on the search path, or in the folder where it will run. `undefined`: it is not there. */
export function locateCommand(
  { program, args }: ShellCommand,
  { path, folder }: { readonly path: string; readonly folder: string },
): [string, ...string[]] | undefined {
  const found = findProgram(program.includes("/") ? resolve(folder, program) : program, path);
  if (found !== undefined) return [found, ...args];
  const [standIn, ...first] = STAND_INS[program] ?? [];
  const other = standIn === undefined ? undefined : findProgram(standIn, path);
  return other === undefined ? undefined : [other, ...first, ...args];
}
