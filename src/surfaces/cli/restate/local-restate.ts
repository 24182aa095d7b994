import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { findRestateProgram, restateEnvironment } from "./restate-program.ts";

interface Running {
  readonly pid: number;
  readonly ingressUrl: string;
  readonly adminUrl: string;
}

const LOOK_EVERY_MS = 50;
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
    const left = await readNoted(noted);
    if (left !== undefined && (await answers(left))) return new LocalRestate(left);
    const [ingress, admin, node] = await Promise.all([findPort(), findPort(), findPort()]);
    const child = spawn(findRestateProgram(), ["--no-logo"], {
      cwd: folder,
      env: { ...restateEnvironment(folder, { ingress, admin, node }), RESTATE_LOG_DISABLE_ANSI_CODES: "true" },
      stdio: "ignore",
      // A Ctrl-C in the terminal is for who has started it.
      detached: true,
    });
    const running = {
      pid: child.pid ?? 0,
      ingressUrl: `http://127.0.0.1:${ingress}`,
      adminUrl: `http://127.0.0.1:${admin}`,
    };
    await writeFile(noted, JSON.stringify(running));
    await untilItAnswers(child, running);
    child.unref();
    return new LocalRestate(running);
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const waitUntil = performance.now() + STOP_MS;
    signal(this.pid, "SIGTERM");
    while (signal(this.pid, 0)) {
      if (performance.now() > waitUntil) signal(this.pid, "SIGKILL");
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}

async function untilItAnswers(child: ChildProcess, running: Running): Promise<void> {
  const failed = new AbortController();
  child.once("error", () => failed.abort());
  child.once("exit", () => failed.abort());
  const waitUntil = performance.now() + START_MS;
  while (!(await answers(running))) {
    if (failed.signal.aborted || performance.now() > waitUntil) {
      child.kill("SIGKILL");
      throw new PawlError("RESTATE_UNREACHABLE", {
        message: "The Restate server that was started here has ended, or does not answer.",
        remedy:
          "Move its folder `restate` in the data directory away, if it has begun to fail. Its runs begin anew then.",
      });
    }
    await setTimeout(LOOK_EVERY_MS);
  }
}

async function answers({ ingressUrl, adminUrl }: Running): Promise<boolean> {
  const isThere = (url: string) =>
    fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const both = await Promise.all([isThere(`${adminUrl}/health`), isThere(`${ingressUrl}/restate/health`)]);
  return both.every(Boolean);
}

async function readNoted(path: string): Promise<Running | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Running;
  } catch {
    return undefined;
  }
}

/** False: there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
