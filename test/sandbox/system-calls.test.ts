import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { toSystemCallFilter } from "../../src/executors/sandbox/kernel/system-call-filter.ts";
import type { SandboxResult } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { folderOfTools } from "./ways.ts";

const LIMITS = { timeoutMs: 60_000, memoryBytes: 512 * 1024 * 1024, maxOutputBytes: 8 * 1024 * 1024, maxProcesses: 64 };
const [ALLOWED, EPERM, ENOSYS, EAFNOSUPPORT, KILLED] = [0x7fff0000, 0x50001, 0x50026, 0x50061, 0x80000000];

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args?: readonly number[];
}

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;

describe("the filter", () => {
  const cases: readonly [string, string, Call, number][] = [
    ["read on x64", "x64", { arch: X64, number: 0 }, ALLOWED],
    ["ptrace on x64", "x64", { arch: X64, number: 101 }, EPERM],
    ["ptrace on arm64", "arm64", { arch: ARM64, number: 117 }, EPERM],
    ["bpf on arm64", "arm64", { arch: ARM64, number: 280 }, EPERM],
    ["openat on arm64", "arm64", { arch: ARM64, number: 56 }, ALLOWED],
    ["a call of i386", "x64", { arch: 0x40000003, number: 20 }, KILLED],
    ["a call of 32-bit ARM", "arm64", { arch: 0x40000028, number: 20 }, KILLED],
    ["a call of x32", "x64", { arch: X64, number: 0x40000000 + 101 }, ENOSYS],
    ["io_uring_setup", "x64", { arch: X64, number: 425 }, ENOSYS],
    ["clone3", "arm64", { arch: ARM64, number: 435 }, ENOSYS],
    ["clone of a thread", "x64", { arch: X64, number: 56, args: [0x3d0f00] }, ALLOWED],
    ["clone with a new user namespace", "x64", { arch: X64, number: 56, args: [0x10000000] }, EPERM],
    ["clone with a new network on arm64", "arm64", { arch: ARM64, number: 220, args: [0x40000011] }, EPERM],
    ["ioctl TIOCGWINSZ", "x64", { arch: X64, number: 16, args: [0, 0x5413] }, ALLOWED],
    ["ioctl TIOCSTI", "x64", { arch: X64, number: 16, args: [0, 0x5412] }, EPERM],
    ["ioctl TIOCSTI on arm64", "arm64", { arch: ARM64, number: 29, args: [0, 0x5412] }, EPERM],
    ["socket AF_UNIX", "x64", { arch: X64, number: 41, args: [1, 1, 0] }, ALLOWED],
    ["socket AF_INET6", "arm64", { arch: ARM64, number: 198, args: [10, 1, 0] }, ALLOWED],
    ["socket AF_NETLINK of routes", "x64", { arch: X64, number: 41, args: [16, 3, 0] }, ALLOWED],
    ["socket AF_NETLINK of audit", "x64", { arch: X64, number: 41, args: [16, 3, 9] }, EAFNOSUPPORT],
    ["socket AF_PACKET", "x64", { arch: X64, number: 41, args: [17, 3, 0] }, EAFNOSUPPORT],
    ["socket AF_VSOCK on arm64", "arm64", { arch: ARM64, number: 198, args: [40, 1, 0] }, EAFNOSUPPORT],
  ];

  test.each(cases)("%s", (_, arch, call, verdict) => {
    expect(judge(toSystemCallFilter(arch) ?? Buffer.alloc(0), call)).toBe(verdict);
  });

  test("a machine that nobody has listed has none", () => {
    expect(toSystemCallFilter("riscv64")).toBeUndefined();
  });
});

// With and without the help of setpriv: root hands its users out, everyone else gets a namespace.
describe.each(["bwrap", "bwrap in a user namespace"])("%s", (name) => {
  needs("bwrap", "python3");
  const tools = () => (name === "bwrap" ? {} : { searchPath: folderOfTools("bwrap", "prlimit", "env", "sh") });
  const run = async (script: string): Promise<SandboxResult> => {
    const sandbox = createSandbox({ mode: "required", ...tools() });
    const spec = { command: "/usr/bin/python3", args: ["-c", script], limits: LIMITS };
    return sandbox.runSandboxed(spec, new AbortController().signal);
  };

  test("calls that attacks on the kernel begin with are refused", async () => {
    const script = `
import ctypes, errno, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
x64 = platform.machine() == "x86_64"
calls = {"ptrace": (101, 117, 0), "keyctl": (250, 219, 0), "add_key": (248, 217, 0), "bpf": (321, 280, 0),
    "perf_event_open": (298, 241, 0), "userfaultfd": (323, 282, 0), "mount": (165, 40, 0), "unshare": (272, 97, 0x10000000),
    "setns": (308, 268, 0), "io_uring_setup": (425, 425, 1), "open_by_handle_at": (304, 265, 0), "init_module": (175, 105, 0),
    "kexec_load": (246, 104, 0), "fsopen": (430, 430, 0), "clone": (56, 220, 0x10000011), "process_vm_readv": (310, 270, 1),
    "pidfd_getfd": (438, 438, 0), "reboot": (169, 142, 0)}
for name, (number, other, first) in calls.items():
    ctypes.set_errno(0)
    result = libc.syscall(number if x64 else other, first, 0, 0, 0, 0)
    if result != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS): print(name, result, ctypes.get_errno())
for family in (17, 15, 38, 40, 29, 30, 31):
    try: socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_DGRAM); print("family", family)
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT: print("family", family, error)
for name in ("kcore", "keys", "kallsyms", "sysrq-trigger"):
    try:
        if open("/proc/" + name, "rb").read(9): print("/proc/" + name)
    except FileNotFoundError: pass
    except PermissionError: pass
print("done")
`;
    const { stdout, stderr } = await run(script);

    expect(stdout.toString() + stderr.toString()).toBe("done\n");
  });

  test.runIf(process.arch === "x64")("a call as another machine's ends the program", async () => {
    const script = `
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("still here")
`;
    const { stdout, ending } = await run(script);

    expect({ said: stdout.toString(), ending }).toEqual({ said: "", ending: { type: "killed", signal: "SIGSYS" } });
  });

  test("processes, threads, pipes and sockets of its own work", async () => {
    const script = `
import multiprocessing, socket, subprocess, threading
thread = threading.Thread(target=print, args=("thread",), kwargs={"flush": True}); thread.start(); thread.join()
print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(9).decode())
server = socket.create_server(("127.0.0.1", 0)); print(socket.create_connection(server.getsockname()).fileno() > 0)
`;
    const { stdout, stderr } = await run(script);

    expect(stdout.toString() + stderr.toString()).toBe("thread\nchild\n[1, 2]\npair\nTrue\n");
  });
});

/** Does what the kernel does with a filter. */
function judge(program: Buffer, { arch, number, args = [] }: Call): number {
  const call = Buffer.alloc(64);
  call.writeUInt32LE(number, 0);
  call.writeUInt32LE(arch, 4);
  args.forEach((value, index) => void call.writeBigUInt64LE(BigInt(value), 16 + 8 * index));
  let loaded = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, value] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    if (code === 0x06) return value;
    if (code === 0x20) loaded = call.readUInt32LE(value);
    else {
      const isTrue = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += 8 * program.readUInt8(at + (isTrue ? 2 : 3));
    }
  }
  return -1;
}
