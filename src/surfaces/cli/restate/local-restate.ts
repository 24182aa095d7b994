import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import { orElse } from "../../../core/or-else.ts";

interface Running {
  readonly pid: number;
  readonly ingressUrl: string;
  readonly adminUrl: string;
}

const LOOK_EVERY_MS = 50;
const LOOK_MS = 1_000;
const START_MS = 30_000;
const STOP_MS = 5_000;

/** A Restate server on loopback for who works on an application. Its data and its log lie in a folder. */
export class LocalRestate implements Running {
  readonly pid: number;
  readonly ingressUrl: string;
  readonly adminUrl: string;

  private constructor({ pid, ingressUrl, adminUrl }: Running) {
    this.pid = pid;
    this.ingressUrl = ingressUrl;
    this.adminUrl = adminUrl;
  }

  /** The one that a killed process has left is taken over. Throws `PACKAGE_MISSING`, `RESTATE_UNREACHABLE`. */
  static async start(folder: string): Promise<LocalRestate> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const noted = join(folder, "running.json");
    const cluster = await nameOf(folder);
    const left = await readNoted(noted);
    if (left !== undefined && (await isOf(cluster, left)) && (await answers(left))) return new LocalRestate(left);
    // Where it listened before: an application that is open knows no other address.
    const [ingress, admin, node] = await Promise.all([
      findPort(left?.ingressUrl),
      findPort(left?.adminUrl),
      findPort(),
    ]);
    const log = join(folder, "restate.log");
    const written = await open(log, "w", 0o600);
    const child = spawn(findRestateProgram(), ["--no-logo"], {
      cwd: folder,
      env: {
        ...restateEnvironment(folder, { ingress, admin, node }),
        RESTATE_CLUSTER_NAME: cluster,
        RESTATE_LOG_DISABLE_ANSI_CODES: "true",
      },
      stdio: ["ignore", written.fd, written.fd],
      // A Ctrl-C in the terminal is for who has started it.
      detached: true,
    });
    const failed = new AbortController();
    child.once("error", (cause) => failed.abort(cause));
    child.once("exit", () => failed.abort());
    await written.close();
    const { pid } = child;
    if (pid === undefined) throw withoutAnswer(log, failed.signal.reason);
    const running = { pid, ingressUrl: `http://127.0.0.1:${ingress}`, adminUrl: `http://127.0.0.1:${admin}` };
    await writeFile(noted, writeExact(running));
    if (!(await untilItAnswers(running, failed.signal))) {
      child.kill("SIGKILL");
      throw withoutAnswer(log);
    }
    child.unref();
    return new LocalRestate(running);
  }

  /** False: it has ended, by whatever cause. */
  get isAlive(): boolean {
    return signal(this.pid, 0);
  }

  /** Resolves when it has ended, at the latest after ten seconds. */
  async stop(): Promise<void> {
    signal(this.pid, "SIGTERM");
    if (await hasEndedWithin(this.pid, STOP_MS)) return;
    signal(this.pid, "SIGKILL");
    // Where nobody reaps the one that was taken over, it never ends.
    await hasEndedWithin(this.pid, STOP_MS);
  }
}

async function hasEndedWithin(pid: number, ms: number): Promise<boolean> {
  for (const waitUntil = performance.now() + ms; performance.now() < waitUntil; await setTimeout(LOOK_EVERY_MS))
    if (!signal(pid, 0)) return true;
  return false;
}

/** False: it has ended, or its time is over. */
async function untilItAnswers(running: Running, ended: AbortSignal): Promise<boolean> {
  const waitUntil = performance.now() + START_MS;
  for (; !ended.aborted && performance.now() < waitUntil; await setTimeout(LOOK_EVERY_MS))
    if (await answers(running)) return true;
  return false;
}

function withoutAnswer(log: string, cause?: unknown): PawlError {
  return new PawlError("RESTATE_UNREACHABLE", {
    message: "The Restate server that was started here has ended, or does not answer.",
    remedy: `Read ${log}. If its data is damaged, move the folder away that holds it: runs go on from what Pawl has on record.`,
    cause,
  });
}

async function answers({ ingressUrl, adminUrl }: Running): Promise<boolean> {
  const isThere = (url: string) =>
    fetch(url, { signal: AbortSignal.timeout(LOOK_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const both = await Promise.all([isThere(`${adminUrl}/health`), isThere(`${ingressUrl}/restate/health`)]);
  return both.every(Boolean);
}

/** The server refuses data of another name, so that the name stays with them. */
async function nameOf(folder: string): Promise<string> {
  const path = join(folder, "cluster");
  const kept = await readFile(path, "utf8").catch(() => undefined);
  if (kept !== undefined) return kept;
  const name = `pawl-${randomUUID()}`;
  await writeFile(path, name, { flag: "wx" });
  return name;
}

/** Since it was noted its port and its process id may have become those of others, and it is to be ended one day. */
async function isOf(cluster: string, { adminUrl }: Running): Promise<boolean> {
  try {
    const answer = await fetch(`${adminUrl}/cluster-health`, { signal: AbortSignal.timeout(LOOK_MS) });
    return ((await answer.json()) as { readonly cluster_name?: unknown }).cluster_name === cluster;
  } catch {
    return false;
  }
}

async function readNoted(path: string): Promise<Running | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return orElse(() => parseExact(text) as Running, undefined);
}

/** False: there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  return orElse(() => process.kill(pid, name), false);
}

/** That of the address where it is free, else any. */
async function findPort(before?: string): Promise<number> {
  const server = createServer().listen(Number(URL.parse(before ?? "")?.port ?? 0), "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (before === undefined) throw error;
    return findPort();
  }
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** `@restatedev/restate-server` has a package with the program for each kind of machine. Throws `PACKAGE_MISSING`. */
export function findRestateProgram(): string {
  const require = createRequire(import.meta.url);
  const machine = `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`;
  try {
    const found = createRequire(require.resolve("@restatedev/restate-server/package.json")).resolve(machine);
    return join(found, "..", "bin", "restate-server");
  } catch (cause) {
    throw new PawlError("PACKAGE_MISSING", {
      message: "The package @restatedev/restate-server with the program of Restate is not installed.",
      remedy: "npm install --save-dev @restatedev/restate-server@1.7.12",
      cause,
    });
  }
}

export interface RestatePorts {
  readonly ingress: number;
  readonly admin: number;
  /** For other servers of a cluster. */
  readonly node: number;
}

/** A server alone on loopback, which keeps its data in the folder. */
export function restateEnvironment(folder: string, { ingress, admin, node }: RestatePorts): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DO_NOT_TRACK: "1",
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_BASE_DIR: join(folder, "data"),
    // Otherwise each start leaves folders in that of the machine.
    RESTATE_WORKER__INVOKER__TMP_DIR: join(folder, "temporary"),
    RESTATE_NODE_NAME: "pawl",
    RESTATE_DEFAULT_NUM_PARTITIONS: "4",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
  };
}
