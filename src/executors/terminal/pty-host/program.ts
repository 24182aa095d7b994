import { createBrands, toLimitOption } from "../../sandbox/brand.ts";
import { findProgram } from "../find-program.ts";

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
  const brands = createBrands();
  const path = process.env["PATH"] ?? "";
  const prlimit = findProgram("prlimit", path);
  const bash = findProgram("bash", path);
  return (command) => {
    const brand = prlimit === undefined ? undefined : brands.next();
    const [first, ...args] = [
      ...(prlimit === undefined || brand === undefined ? [] : [prlimit, toLimitOption(brand), "--"]),
      ...(bash === undefined ? [] : [bash, "-p", "-c", CLOSE_FOREIGN_FILES, "pawl-terminal"]),
      ...command,
    ] as const;
    return { command: first ?? command[0], args, brand };
  };
}
