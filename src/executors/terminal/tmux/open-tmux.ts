import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { findProgram } from "../find-program.ts";
import { TmuxHolder } from "./tmux-holder.ts";

export interface TmuxOptions {
  readonly searchPath: string;
  /** For sockets, of nobody else's. */
  readonly dir: string;
  readonly scrollbackRows: number;
}

/** Throws `TERMINAL_BACKEND_MISSING` where there is no tmux, or only an old one. */
export async function openTmux({ searchPath, dir, scrollbackRows }: TmuxOptions): Promise<TmuxHolder> {
  const program = findProgram("tmux", searchPath);
  if (program === undefined) throw missing("`tmux` is not on the search path.");
  const { stdout } = await promisify(execFile)(program, ["-V"]);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor ?? 0);
  if (version < 303) throw missing(`${program} is ${stdout.trim()}.`);
  return new TmuxHolder({ program, dir, scrollbackRows, missesEnds: version < 305 });
}

function missing(reason: string): PawlError {
  return new PawlError("TERMINAL_BACKEND_MISSING", { message: `Terminals are to be held by tmux: ${reason}` });
}
