/** A seccomp filter in classic BPF: it forbids system calls that no script needs and attacks on the kernel begin with. bwrap loads it. */
export function toSystemCallFilter(arch: string): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const { audit, numbers } = machine;
  return assemble([
    load(ARCH),
    jump(EQUALS, audit, 1, 0),
    answer(KILL),
    load(NUMBER),
    // Calls of x32 have other numbers for the same things.
    ...(arch === "x64" ? [jump(IS_AT_LEAST, X32, 0, 1), answer(fail(ENOSYS))] : []),
    ...numbers.forbidden.flatMap((number) => when(number, [answer(fail(EPERM))])),
    // Programs take these for a kernel that is older, and use what is filtered below instead.
    ...UNKNOWN.flatMap((number) => when(number, [answer(fail(ENOSYS))])),
    ...when(numbers.clone, [
      load(argument(0)),
      jump(HAS_BITS, NEW_NAMESPACES, 0, 1),
      answer(fail(EPERM)),
      answer(ALLOW),
    ]),
    ...when(numbers.ioctl, [
      load(argument(1)),
      ...TYPING.flatMap((request) => when(request, [answer(fail(EPERM))])),
      answer(ALLOW),
    ]),
    ...numbers.sockets.flatMap((number) => when(number, checkFamily())),
    answer(ALLOW),
  ]);
}

function checkFamily(): Instruction[] {
  return [
    load(argument(0)),
    ...FAMILIES.flatMap((family) => when(family, [answer(ALLOW)])),
    // Of the kernel's own only the list of networks, which programs ask for their addresses.
    ...when(NETLINK, [load(argument(2)), ...when(NETLINK_ROUTE, [answer(ALLOW)]), answer(fail(EAFNOSUPPORT))]),
    answer(fail(EAFNOSUPPORT)),
  ];
}

interface Machine {
  /** The kernel's name of it. A call that comes as another machine's (`int 0x80`) ends the program. */
  readonly audit: number;
  readonly numbers: {
    readonly forbidden: readonly number[];
    readonly clone: number;
    readonly ioctl: number;
    /** socket and socketpair. */
    readonly sockets: readonly number[];
  };
}

/** open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, mount_setattr, quotactl_fd: the same everywhere. */
const FORBIDDEN_EVERYWHERE = [428, 429, 430, 431, 432, 433, 438, 442, 443];
/** io_uring_setup, io_uring_enter, io_uring_register, clone3. */
const UNKNOWN = [425, 426, 427, 435];

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    numbers: {
      forbidden: [
        // ptrace, process_vm_readv, process_vm_writev, kcmp
        ...[101, 310, 311, 312],
        // keyctl, add_key, request_key; bpf, perf_event_open, userfaultfd
        ...[250, 248, 249, 321, 298, 323],
        // mount, umount2, pivot_root, chroot, unshare, setns
        ...[165, 166, 155, 161, 272, 308],
        // kexec_load, kexec_file_load, create_module, init_module, finit_module, delete_module, query_module
        ...[246, 320, 174, 175, 313, 176, 178],
        // name_to_handle_at, open_by_handle_at, fanotify_init, lookup_dcookie
        ...[303, 304, 300, 212],
        // acct, swapon, swapoff, reboot, syslog, settimeofday, clock_settime, clock_adjtime, quotactl, vhangup
        ...[163, 167, 168, 169, 103, 164, 227, 305, 179, 153],
        // iopl, ioperm, modify_ldt, uselib, nfsservctl, migrate_pages, move_pages
        ...[172, 173, 154, 134, 180, 256, 279],
        ...FORBIDDEN_EVERYWHERE,
      ],
      clone: 56,
      ioctl: 16,
      sockets: [41, 53],
    },
  },
  arm64: {
    audit: 0xc00000b7,
    numbers: {
      forbidden: [
        // In the order of the list above; this machine has no create_module, query_module, iopl, ioperm, modify_ldt and uselib.
        ...[117, 270, 271, 272],
        ...[219, 217, 218, 280, 241, 282],
        ...[40, 39, 41, 51, 97, 268],
        ...[104, 294, 105, 273, 106],
        ...[264, 265, 262, 18],
        ...[89, 224, 225, 142, 116, 170, 112, 266, 60, 58],
        ...[42, 238, 239],
        ...FORBIDDEN_EVERYWHERE,
      ],
      clone: 220,
      ioctl: 29,
      sockets: [198, 199],
    },
  },
};

const X32 = 0x40000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** TIOCSTI and TIOCLINUX: they type into a terminal. */
const TYPING = [0x5412, 0x541c];
/** AF_UNIX, AF_INET, AF_INET6. */
const FAMILIES = [1, 2, 10];
const NETLINK = 16;
const NETLINK_ROUTE = 0;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;

function fail(error: number): number {
  return 0x00050000 + error;
}

// Places in what the kernel tells of a call. Both machines write the low half of an argument first.
const NUMBER = 0;
const ARCH = 4;

function argument(index: number): number {
  return 16 + 8 * index;
}

/** `BPF_JMP` with a constant: equal, at least, and any of these bits. */
const EQUALS = 0x15;
const IS_AT_LEAST = 0x35;
const HAS_BITS = 0x45;
const LOAD = 0x20;
const RETURN = 0x06;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** How many instructions to skip. */
  readonly ifTrue: number;
  readonly ifFalse: number;
}

function jump(code: number, value: number, ifTrue: number, ifFalse: number): Instruction {
  return { code, value, ifTrue, ifFalse };
}

function load(place: number): Instruction {
  return jump(LOAD, place, 0, 0);
}

function answer(value: number): Instruction {
  return jump(RETURN, value, 0, 0);
}

function when(value: number, then: readonly Instruction[]): Instruction[] {
  return [jump(EQUALS, value, 0, then.length), ...then];
}

/** `struct sock_filter`, eight bytes each. */
function assemble(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  instructions.forEach(({ code, value, ifTrue, ifFalse }, index) => {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(ifTrue, index * 8 + 2);
    program.writeUInt8(ifFalse, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  });
  return program;
}
