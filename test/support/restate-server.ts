import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { findRestateProgram, restateEnvironment } from "../../src/surfaces/cli/restate/local-restate.ts";
import { findFreePort } from "./free-port.ts";

const START_MS = 12_000;

/** A Restate server of its own on loopback, with a folder that outlives a kill of the process. */
export class RestateServer {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "pawl-restate-"));
  readonly #environment: Record<string, string>;
  #process: ChildProcess | undefined;

  private constructor(
    [ingress = 0, admin = 0, node = 0]: readonly number[],
    settings: Readonly<Record<string, string>>,
  ) {
    this.ingressUrl = `http://127.0.0.1:${ingress}`;
    this.adminUrl = `http://127.0.0.1:${admin}`;
    this.#environment = {
      ...restateEnvironment(this.#folder, { ingress, admin, node }),
      ...settings,
    };
  }

  /** Resolves when it takes requests. `settings`: variables of its environment. */
  static async open(settings: Readonly<Record<string, string>> = {}): Promise<RestateServer> {
    const server = new RestateServer(await Promise.all([1, 2, 3].map(findFreePort)), settings);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    this.#process = spawn(findRestateProgram(), ["--no-logo"], {
      stdio: "ignore",
      cwd: this.#folder,
      env: this.#environment,
    });
    const ended = once(this.#process, "exit");
    const addresses = [`${this.adminUrl}/health`, `${this.ingressUrl}/restate/health`];
    const waitUntil = performance.now() + START_MS;
    while (!(await Promise.all(addresses.map(answers))).every(Boolean)) {
      const isLate = performance.now() > waitUntil;
      if (isLate) await this.kill();
      if (isLate || this.#process.exitCode !== null || this.#process.signalCode !== null)
        throw new Error("restate-server has ended, or does not answer.");
      await Promise.race([ended, setTimeout(20)]);
    }
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  /** As a disk that is lost does: it begins anew with nothing. */
  async loseData(): Promise<void> {
    await this.remove();
    mkdirSync(this.#folder);
    await this.start();
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The rows of a query to its admin interface. */
  async query(query: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const answer = await fetch(`${this.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    if (!answer.ok) throw new Error(`${query}: ${await answer.text()}`);
    return ((await answer.json()) as { rows: Record<string, unknown>[] }).rows;
  }
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
