import { expect, test } from "vitest";
import { locateControlGroups } from "./control-groups.ts";

test("version 1: each controller where it is mounted, below our own group", () => {
  const mounts = [
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755",
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory",
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids",
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
  ].join("\n");

  expect(locateControlGroups(mounts, "8:pids:/\n4:memory:/jobs/7\n0::/\n")).toEqual({
    version: 1,
    memory: ["/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/memory"],
    pids: ["/sys/fs/cgroup/pids"],
  });
});

test("version 1 in a container: the mount begins at our own group", () => {
  const mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory";

  expect(locateControlGroups(mounts, "4:memory:/docker/abc\n")).toEqual({
    version: 1,
    memory: ["/sys/fs/cgroup/memory"],
    pids: [],
  });
});

test("version 2: our own group, then beside it, where a session's owner may make some", () => {
  const mounts = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
  const own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/shell.scope\n";
  const app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";

  expect(locateControlGroups(mounts, own)).toEqual({
    version: 2,
    memory: [`${app}/shell.scope`, app],
    pids: [`${app}/shell.scope`, app],
  });
});

test("version 2 never leads above where it is mounted", () => {
  const mounts = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

  expect(locateControlGroups(mounts, "0::/\n")).toMatchObject({ memory: ["/sys/fs/cgroup"] });
});

test("without the controllers there are no places", () => {
  expect(locateControlGroups("23 1 8:1 / / rw - ext4 /dev/vda rw", "")).toBeUndefined();
});
