import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ControlGroup } from "./kernel/control-groups.ts";
import { findBranded, findDescendants, killAll, sendSignal } from "./kernel/processes.ts";
import { type Launch, TASKS_OF_BWRAP } from "./launch.ts";
import type { SandboxLimits, StandingProgram } from "./sandbox.ts";
import { watchProgram } from "./watch.ts";

const LOOK_EVERY_MS = 1_000;

export function toStandingProgram(options: {
  readonly launch: Launch;
  readonly sh: string;
  readonly group: ControlGroup | undefined;
  readonly limits: SandboxLimits;
  /** The beginning of the paths of temporary folders. */
  readonly temporary: string;
  /** Absent: its starter finds what is left of it. */
  readonly brand: string | undefined;
}): StandingProgram {
  const { launch, sh, group, limits, temporary, brand } = options;
  let stop: (() => void) | undefined;
  return {
    command: [sh, "-c", ...feedFromFiles(launch, mkdtempSync(temporary), group?.folders ?? [])],
    env: launch.env,
    cwd: launch.cwd,
    attach(pid) {
      const findTree = () => [pid, ...findDescendants(pid)];
      group?.admit(findTree);
      const watch = watchProgram({
        wrappers: TASKS_OF_BWRAP,
        group,
        limits,
        findTree,
        findMembers: findTree,
        exceeded: () => sendSignal([pid], "SIGKILL"),
        everyMs: LOOK_EVERY_MS,
      });
      stop = () => watch.stop();
    },
    release() {
      stop?.();
      // bwrap that is killed in its first moments leaves others behind.
      if (brand !== undefined) killAll(() => findBranded([brand])).catch(() => undefined);
      group?.remove().catch(() => undefined);
    },
  };
}

/** The starter of the program has no pipes for bwrap's input: files hold it, and are gone before it begins. The shell enters the control groups. */
function feedFromFiles({ command, feeds }: Launch, folder: string, groups: readonly string[]): string[] {
  const opens = feeds.map((feed, index) => {
    writeFileSync(join(folder, String(index)), feed, { mode: 0o600 });
    return `${4 + index}<"$1/${index}"`;
  });
  const enter = groups.map((_, index) => `echo 0 2>/dev/null > "$${index + 2}/cgroup.procs";`).join(" ");
  const script = `${enter} exec ${opens.join(" ")} && rm -rf "$1" && shift ${groups.length + 1} && exec "$@"`;
  return [script, "pawl-sandbox", folder, ...groups, ...command];
}
