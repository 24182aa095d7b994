import { spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { toBrandPattern } from "./kernel/brand.ts";

/** A small shell that outlives us by a moment, also after SIGKILL: it kills the programs that are left and removes their groups and folders. */
export interface OrphanGuard {
  stand(): void;
}

// Its input ends with us. First all are stopped, so that a fork bomb runs out of room, then they are killed.
const GUARD = `
while read -r _; do :; done
pattern=$1 groups=$2 temporary=$3
shift 3
round=0
while [ "$round" -lt 300 ]; do
  found=$(grep -lsE "$pattern" /proc/[0-9]*/limits)
  [ -z "$found" ] && break
  [ "$round" -lt 5 ] && signal=STOP || signal=KILL
  for file in $found; do
    pid=\${file#/proc/}
    kill -s "$signal" "\${pid%/limits}" 2>/dev/null
  done
  [ "$signal" = KILL ] && sleep 0.01
  round=$((round + 1))
done
[ -n "$temporary" ] && rm -rf "$temporary"*
round=0
while [ "$round" -lt 300 ]; do
  left=
  for parent; do
    for group in "$parent/$groups"*; do
      [ -d "$group" ] && { rmdir "$group" 2>/dev/null || left=yes; }
    done
  done
  [ -z "$left" ] && break
  sleep 0.01
  round=$((round + 1))
done
`;

export function createOrphanGuard(options: {
  readonly sh: string | undefined;
  readonly prefix: string;
  readonly groupParents: readonly string[];
  /** The beginning of the paths of temporary folders, up to the part that differs. */
  readonly temporary: string;
}): OrphanGuard {
  const { sh, prefix, groupParents, temporary } = options;
  let stands = false;
  return {
    stand() {
      if (stands || sh === undefined) return;
      stands = true;
      const args = ["-c", GUARD, "pawl-guard", toBrandPattern(prefix), `pawl-${prefix}`, temporary, ...groupParents];
      startGuard(sh, args);
    },
  };
}

/** Starts a shell whose input ends with this process, and which runs on for a moment. It keeps no process alive. */
export function startGuard(sh: string, args: readonly string[]): Writable {
  // Not of our group: what ends us from a keyboard must not end it first.
  const options = { env: { PATH: "/usr/bin:/bin" }, cwd: "/", detached: true } as const;
  const guard = spawn(sh, args, { ...options, stdio: ["pipe", "ignore", "ignore"] });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
  return guard.stdin;
}
