import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Violation } from "./canaries.ts";
import { generator } from "./fuzz.ts";
import { inParallel, type Result } from "./parts.ts";
import { dataOf, type World } from "./world.ts";

const json = (value: unknown) => JSON.stringify(value);

/** Kills the server under load, and asks it afterwards for everything that it has promised. */
export async function killUnderLoad(
  world: World,
  { seed, kills }: { readonly seed: number; readonly kills: number },
): Promise<Result> {
  const random = generator(seed);
  const taken = new Map<string, string>();
  let isOver = false;
  const workflow = json({
    name: "load",
    steps: [
      { id: "items", type: "llm", prompt: '["{input.n}-a", "{input.n}-b"]' },
      { id: "after", type: "llm", prompt: "{steps.items.output}", depends_on: ["items"] },
    ],
  });
  const client = async (name: number) => {
    for (let n = 0; !isOver; n += 1) {
      const key = `${seed}-${name}-${n}`;
      const body = { workflow, input: { n: key }, idempotency_key: key };
      // What was not answered is sent again under its key, and must be one run.
      for (;;) {
        const run = dataOf(await world.ask("runner", "POST", "/workflows/run", body))?.["run_id"];
        if (typeof run === "string") {
          const before = taken.get(key);
          if (before !== undefined && before !== run)
            doubled.push({ kind: "doubled", detail: `${key} is ${before} and ${run}` });
          taken.set(key, run);
          break;
        }
        if (isOver) break;
        await wait(5);
      }
    }
  };
  const doubled: Violation[] = [];
  const clients = Array.from({ length: 4 }, (_, name) => client(name));
  for (let kill = 0; kill < kills; kill += 1) {
    await wait(Math.floor(random() * 400));
    await world.kill();
    await world.start();
  }
  isOver = true;
  await Promise.all(clients);
  const violations = [...doubled, ...(await checkPromises(world, taken))];
  return { told: `${kills} kills, ${taken.size} runs that were taken`, violations };
}

/** Every run that was taken is there and ends well; each of its steps has ended once. */
async function checkPromises(world: World, taken: ReadonlyMap<string, string>): Promise<readonly Violation[]> {
  const violations: Violation[] = [];
  const until = Date.now() + 120_000;
  await inParallel([...taken], async ([key, run]) => {
    for (;;) {
      const answer = await world.ask("admin", "GET", `/runs/${run}`);
      const { status, input_data: input } = (dataOf(answer) ?? {}) as { status?: string; input_data?: { n?: string } };
      if (answer.status === 404)
        return void violations.push({ kind: "lost", detail: `${run} was taken and is not there` });
      if (input?.n !== undefined && input.n !== key)
        violations.push({ kind: "lost", detail: `${run} has another input than ${key}` });
      if (status === "completed") break;
      if (status === "failed" || Date.now() > until)
        return void violations.push({ kind: "lost", detail: `${run} is ${status}: ${answer.text.slice(0, 300)}` });
      await wait(50);
    }
    const { text } = await world.ask("admin", "GET", `/runs/${run}/events?limit=1000`);
    const { data } = JSON.parse(text) as { data: { items: readonly { type: string; path?: string }[] } };
    const ends = data.items.filter(({ type }) => /succeeded/i.test(type)).map(({ path }) => path);
    if (new Set(ends).size !== ends.length)
      violations.push({ kind: "doubled", detail: `a step of ${run} has ended twice: ${ends}` });
  });
  return violations;
}

/** Between a request and the answer that says that it was taken, the log of the journal must have gone to the disk. */
export async function watchSyncs(world: World, { requests }: { readonly requests: number }): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-syncs-"));
  const file = join(folder, "calls");
  const strace = spawn(
    "strace",
    ["-f", "-y", "-ttt", "-e", "trace=fsync,fdatasync", "-o", file, "-p", String(world.pid)],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  try {
    await attached(strace);
    const asked: { readonly from: number; readonly to: number }[] = [];
    for (let number = 0; number < requests; number += 1) {
      const from = Date.now();
      const { status } = await world.ask("runner", "POST", "/workflows/run", { workflow_name: "hello", input: {} });
      if (status === 202) asked.push({ from, to: Date.now() });
      await wait(5);
    }
    strace.kill("SIGINT");
    await once(strace, "exit");
    const syncs = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes("pawl.db-wal"))
      .map((line) => Number(/ (\d+\.\d+) /.exec(line)?.[1] ?? 0) * 1_000);
    const without = asked.filter(({ from, to }) => !syncs.some((at) => at >= from - 1 && at <= to + 1));
    return {
      told: `${asked.length} runs taken, ${syncs.length} times to the disk`,
      violations: [
        ...(asked.length < requests / 2
          ? [{ kind: "error" as const, detail: `only ${asked.length} requests were taken` }]
          : []),
        ...without.slice(0, 3).map(({ from }) => ({
          kind: "lost" as const,
          detail: `a run was taken at ${from} before it was on the disk`,
        })),
      ],
    };
  } finally {
    strace.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attached(strace: ChildProcess): Promise<void> {
  let said = "";
  for await (const chunk of strace.stderr ?? []) {
    said += String(chunk);
    if (said.includes("attached")) return;
  }
  throw new Error(`strace cannot look at the server: ${said}`);
}

/** A configured key goes to whom it is for, and is in no answer, no line and no file. */
export async function lookForSecrets(world: World): Promise<Result> {
  const body = { workflow_name: "keyed", input: { text: `My key is sk-${world.canaries.variableSecret}.` } };
  const run = dataOf(await world.ask("admin", "POST", "/workflows/run/sync", body))?.["run_id"];
  for (const path of ["", "/events?limit=1000", "/logs", "/graph"])
    await world.ask("admin", "GET", `/runs/${run}${path}`);
  await world.ask("admin", "GET", "/metrics");
  const texts = [...world.heard, { from: "the log", text: world.said }, ...readFiles(join(world.app, ".pawl"))];
  return { told: `${texts.length} answers, lines and files`, violations: world.canaries.check(texts) };
}

function readFiles(folder: string): readonly { readonly from: string; readonly text: string }[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile())
    .map((file) => ({ from: file, text: readFileSync(file, "latin1") }));
}

/** Programs of the operator's own application, run with its network, that try to get out. */
export async function runHostilePrograms(world: World): Promise<Result> {
  const { marks, file, port } = world.canaries;
  const input = { mark: join(marks, "program"), file, port, pid: world.pid };
  let ran = 0;
  const completed: string[] = [];
  await inParallel(
    [...HOSTILE_PROGRAMS.matchAll(/^def (\w+)\(i\)/gm)].map(([, name = ""]) => name),
    async (name) => {
      const answer = await world.ask("runner", "POST", "/workflows/run/sync", {
        workflow_name: "hostile",
        input: { ...input, name },
      });
      const { status, steps } = (dataOf(answer) ?? {}) as {
        status?: string;
        steps?: readonly { error?: { message: string } }[];
      };
      // Most are stopped by an error of their own: what counts is that they came to it.
      if (status === "completed" || /hostile\.py failed with \w+Error/.test(steps?.[0]?.error?.message ?? "")) ran += 1;
      if (status === "completed") completed.push(name);
    },
    2,
  );
  // One leaves a process behind that waits for a while.
  await wait(LEFT_MS);
  const texts = [...world.heard, { from: "the log", text: world.said }];
  const violations = world.canaries.check(texts);
  // One that does nothing that is forbidden shows that programs run at all.
  const control = completed.includes("read_own_environment")
    ? []
    : [{ kind: "error" as const, detail: "no program ran" }];
  return {
    told: `${ran} hostile programs, of which ended well: ${completed.join(", ")}`,
    violations: [...control, ...violations],
  };
}

const LEFT_MS = 3_000;

/** Each function says what it got: that is looked at for secrets. */
export const HOSTILE_PROGRAMS = `
import os, socket, subprocess, glob, ctypes, signal

def run(input):
    return {"got": str(globals()[input["name"]](input))[:20000]}

def read_file(i): return open(i["file"]).read()
def read_parent_environment(i): return open("/proc/%d/environ" % i["pid"]).read()
def read_all_environments(i): return [open(p, "rb").read() for p in glob.glob("/proc/*/environ") if os.access(p, os.R_OK)]
def read_own_environment(i): return dict(os.environ)
def read_parent_memory(i): return open("/proc/%d/maps" % i["pid"]).read()
def read_data(i): return [open(p, "rb").read() for p in glob.glob("/tmp/pawl-adversary-*/app/.pawl/*")]
def write_mark(i): return open(i["mark"], "w").write("x")
def write_through_root(i): return open("/proc/1/root" + i["mark"], "w").write("x")
def shell_mark(i): return subprocess.run(["sh", "-c", "touch " + i["mark"]], capture_output=True)
def mount_host(i): return subprocess.run(["sh", "-c", "mkdir /tmp/m && mount --bind / /tmp/m && touch /tmp/m" + i["mark"]], capture_output=True)
def unshare(i): return subprocess.run(["unshare", "-Urm", "sh", "-c", "touch " + i["mark"]], capture_output=True)
def connect_loopback(i): return talk("127.0.0.1", i)
def connect_six(i): return talk("::1", i)
def connect_zero(i): return talk("0.0.0.0", i)
def connect_metadata(i): return talk("169.254.169.254", i)
def connect_own_addresses(i): return [talk(a, i) for a in addresses()]
def through_proxy(i): return subprocess.run(["sh", "-c", "for h in 127.0.0.1 localhost 0 [::1] 2130706433 127.1; do curl -s -m 3 http://$h:%d/; curl -s -m 3 -p http://$h:%d/; done" % (i["port"], i["port"])], capture_output=True)
def without_proxy(i): return subprocess.run(["sh", "-c", "curl -s -m 3 --noproxy '*' http://127.0.0.1:%d/" % i["port"]], capture_output=True)
def unix_sockets(i): return [talk_unix(p) for p in glob.glob("/tmp/**/*.sock", recursive=True) + glob.glob("/run/**/*.sock", recursive=True)]
def trace_parent(i): return ctypes.CDLL(None).ptrace(16, i["pid"], 0, 0)
def kill_parent(i): return os.kill(i["pid"], signal.SIGKILL)
def kill_all(i): return os.kill(-1, signal.SIGTERM)
def raw_socket(i): return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
def leave_behind(i):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time
            time.sleep(2)
            os.system("touch " + i["mark"])
            os._exit(0)
    return "left"
def write_shared_memory(i): return open("/dev/shm/pawl-left", "w").write(i["file"])
def read_shared_memory(i): return glob.glob("/dev/shm/*")
def read_home(i): return [open(p, "rb").read(200) for p in glob.glob("/root/.*") + glob.glob("/home/*/.*") if os.path.isfile(p)]
def typed_ahead(i):
    import fcntl, termios
    return fcntl.ioctl(0, termios.TIOCSTI, b"x")

def talk(host, i):
    s = socket.create_connection((host, i["port"]), timeout=2)
    s.sendall(b"GET /program HTTP/1.1\\r\\n\\r\\n")
    return s.recv(1000)

def talk_unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    s.connect(path)
    s.sendall(b"GET /runs HTTP/1.1\\r\\nhost: owner\\r\\n\\r\\n")
    return s.recv(1000)

def addresses():
    return [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None)]
`;
