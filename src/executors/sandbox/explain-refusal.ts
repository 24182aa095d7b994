import { existsSync, readFileSync } from "node:fs";
import { orElse } from "../../core/or-else.ts";

/** Why there is no sandbox, and what would help. */
export interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

/** The facts of a machine that tell one cause from another. */
export interface Machine {
  readonly isContainer: boolean;
  /** A filter for system calls lies on this process. */
  readonly hasFilter: boolean;
  /** The value of a kernel setting such as `user.max_user_namespaces`. Undefined: this kernel has none. */
  setting(name: string): string | undefined;
}

const INSTALL = "Install bubblewrap 0.8 or newer: `apt install bubblewrap`.";

const CLONE = "kernel.unprivileged_userns_clone";
const APPARMOR = "kernel.apparmor_restrict_unprivileged_userns";
const MAX = "user.max_user_namespaces";

const USERNS_OFF: Refusal = {
  reason: "the kernel keeps user namespaces from users",
  remedy: `As root of the machine: \`sysctl ${CLONE}=1\`.`,
};
const NONE_LEFT: Refusal = {
  reason: "the kernel allows no more user namespaces",
  remedy: `As root of the machine: \`sysctl ${MAX}=10000\`.`,
};
const BY_APPARMOR: Refusal = {
  reason: "AppArmor keeps user namespaces from programs without a profile, as on Ubuntu from 23.10 on",
  remedy: `As root of the machine: \`sysctl ${APPARMOR}=0\`, or an AppArmor profile for bwrap that says \`userns,\`.`,
};
const BY_CONTAINER: Refusal = {
  reason: "the filter of this container (seccomp) forbids namespaces",
  remedy:
    "With Docker as root: `--cap-add SYS_ADMIN --security-opt apparmor=unconfined --security-opt systempaths=unconfined`; as another user " +
    "`--security-opt seccomp=unconfined` with the latter two.",
};
const BY_MOUNTS: Refusal = {
  reason: "this container does not let a new /proc be mounted",
  remedy: "With Docker: `--security-opt systempaths=unconfined --security-opt apparmor=unconfined`.",
};

/** What is wrong, from what bubblewrap has printed and what the machine says of itself. The text of bubblewrap comes first. */
export function explainRefusal(printed: string, machine: Machine = readMachine()): Refusal {
  if (printed === "") return { reason: "bwrap is not installed", remedy: INSTALL };
  if (/unknown option/i.test(printed)) return { reason: `${printed}: it is older than 0.8`, remedy: INSTALL };
  const causes = findCauses(printed, machine);
  const reasons = causes.map(({ reason }) => reason).join(", or ");
  const remedies = causes.map(({ remedy }) => remedy).join(" Else: ");
  const more = `${remedies}${remedies === "" ? "" : " "}docs/code-steps.md has more ways.`;
  return { reason: reasons === "" ? printed : `${printed}: ${reasons}`, remedy: more };
}

/** The most likely one first. */
function findCauses(printed: string, { isContainer, hasFilter, setting }: Machine): readonly Refusal[] {
  if (setting(MAX) === "0" || /No space left on device/.test(printed)) return [NONE_LEFT];
  if (/mount proc|mounting proc/i.test(printed)) return [BY_MOUNTS];
  const isOfNamespaces = /namespace|uid map|RTM_NEWADDR|Operation not permitted|Permission denied/.test(printed);
  if (!isOfNamespaces) return [];
  if (setting(CLONE) === "0") return [USERNS_OFF];
  if (setting(APPARMOR) === "1" || /uid map|RTM_NEWADDR/.test(printed))
    return setting(APPARMOR) === "0" ? [BY_CONTAINER] : [BY_APPARMOR];
  const isConfined = isContainer || hasFilter;
  if (/Operation not permitted/.test(printed)) return isConfined ? [BY_CONTAINER] : [BY_CONTAINER, USERNS_OFF];
  return isConfined ? [BY_CONTAINER, USERNS_OFF] : [USERNS_OFF];
}

function readMachine(): Machine {
  const { env } = process;
  const marks = ["/.dockerenv", "/run/.containerenv"];
  return {
    isContainer:
      env["container"] !== undefined ||
      env["KUBERNETES_SERVICE_HOST"] !== undefined ||
      marks.some((path) => existsSync(path)),
    hasFilter: /^Seccomp:\s*2$/m.test(readIfThere("/proc/self/status") ?? ""),
    setting: (name) => readIfThere(`/proc/sys/${name.replaceAll(".", "/")}`)?.trim(),
  };
}

function readIfThere(path: string): string | undefined {
  return orElse(() => readFileSync(path, "utf8"), undefined);
}
