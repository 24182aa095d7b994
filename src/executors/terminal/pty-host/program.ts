import { findProgram } from "../../sandbox/find-tools.ts";
import { createBrands, toLimitOption } from "../../sandbox/kernel/brand.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: processes cannot be marked here, so that some may not be found again. */
  readonly brand: string | undefined;
}

// Other terminals' file descriptors are open in this process, and a child gets them all: it could read and type there,
// and would keep them open. bash is the one shell that can close any of them.
const CLOSE_FOREIGN_FILES = `
for file in /dev/fd/*; do
  n=\${file##*/}
  case $n in [012] | *[!0-9]*) ;; *) eval "exec $n>&-" ;; esac
done
exec "$@"
`;

/** Puts in front of a command what marks its processes and what closes files that are not its own. */
export function createPrograms(): (command: readonly [string, ...string[]]) => Program {
  const toBranded = createBrander();
  const bash = findProgram("bash", process.env["PATH"] ?? "");
  return (command) => {
    const closing = bash === undefined ? [] : [bash, "-p", "-c", CLOSE_FOREIGN_FILES, "pawl-terminal"];
    const { command: branded, brand } = toBranded([...closing, ...command]);
    const [first, ...args] = branded;
    return { command: first ?? command[0], args, brand };
  };
}

/** Puts in front of a command what marks its processes. */
export function createBrander(): (command: readonly string[]) => {
  readonly command: readonly string[];
  readonly brand: string | undefined;
} {
  const brands = createBrands();
  const prlimit = findProgram("prlimit", process.env["PATH"] ?? "");
  return (command) => {
    if (prlimit === undefined) return { command, brand: undefined };
    const brand = brands.next();
    return { command: [prlimit, toLimitOption(brand), "--", ...command], brand };
  };
}
