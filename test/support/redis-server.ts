import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { findFreePort } from "./free-port.ts";
import { programOf } from "./needs.ts";

/** A real Redis server on a free port, which keeps nothing. */
export class RedisServer {
  readonly url: string;
  readonly #program: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  /** It ends with its test. Skips the test where there is no `redis-server`. */
  static async start(): Promise<RedisServer> {
    const server = await RedisServer.open(programOf("redis-server"));
    onTestFinished(() => server.kill());
    return server;
  }

  static async open(program: string): Promise<RedisServer> {
    const server = new RedisServer(program, await findFreePort());
    await server.begin();
    return server;
  }

  private constructor(program: string, port: number) {
    this.#program = program;
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}/0`;
  }

  /** Resolves when it takes connections. */
  async begin(): Promise<void> {
    const args = [
      "--port",
      String(this.#port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      "/tmp",
    ];
    const child = spawn(this.#program, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#process = child;
    let said = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      said += text;
      if (/Ready to accept connections/.test(said)) {
        child.stdout.resume();
        return;
      }
    }
    throw new Error(`redis-server has ended: ${said}`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
