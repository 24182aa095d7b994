import { expect, test } from "vitest";
import { explainRefusal, type Machine } from "./explain-refusal.ts";

const UID_MAP = "bwrap: setting up uid map: Permission denied";
const NO_PERMISSIONS = "bwrap: No permissions to create new namespace";
const NOT_PERMITTED = "bwrap: Creating new namespace failed: Operation not permitted";

const CLONE = /sysctl kernel\.unprivileged_userns_clone=1/;
const APPARMOR = /sysctl kernel\.apparmor_restrict_unprivileged_userns=0/;
const DOCKER = /seccomp=unconfined/;

interface Facts extends Partial<Omit<Machine, "setting">> {
  readonly settings?: Readonly<Record<string, string>>;
}

function machine({ settings = {}, isContainer = false, hasFilter = false }: Facts): Machine {
  return { isContainer, hasFilter, setting: (name) => settings[name] };
}

test.each<[string, Facts, RegExp, RegExp]>([
  ["", {}, /^bwrap is not installed$/, /apt install bubblewrap/],
  ["bwrap: Unknown option --disable-userns", {}, /older than 0\.8/, /apt install bubblewrap/],
  [UID_MAP, {}, /uid map: Permission denied: AppArmor/, APPARMOR],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", {}, /AppArmor/, APPARMOR],
  [UID_MAP, { settings: { "kernel.apparmor_restrict_unprivileged_userns": "0" } }, /seccomp/, DOCKER],
  [NO_PERMISSIONS, {}, /namespace: the kernel keeps user namespaces/, CLONE],
  [NO_PERMISSIONS, { settings: { "kernel.apparmor_restrict_unprivileged_userns": "1" } }, /AppArmor/, APPARMOR],
  [
    NO_PERMISSIONS,
    { isContainer: true },
    /container \(seccomp\).*, or the kernel/,
    /seccomp=unconfined.*userns_clone=1/,
  ],
  [NOT_PERMITTED, { isContainer: true }, /container \(seccomp\) forbids namespaces$/, DOCKER],
  [NOT_PERMITTED, { hasFilter: true, settings: { "kernel.unprivileged_userns_clone": "0" } }, /the kernel/, CLONE],
  [NOT_PERMITTED, { settings: { "user.max_user_namespaces": "0" } }, /no more/, /sysctl user\.max_user_namespaces=/],
  ["bwrap: Creating new namespace failed: No space left on device", {}, /no more/, /max_user_namespaces/],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, /\/proc/, /systempaths=unconfined/],
  ["bwrap: something new", {}, /^bwrap: something new$/, /docs\/code-steps\.md/],
])("%s, %j: %s", (printed, facts, reason, remedy) => {
  const explained = explainRefusal(printed, machine(facts));
  expect(explained.reason).toMatch(reason);
  expect(explained.remedy).toMatch(remedy);
});
