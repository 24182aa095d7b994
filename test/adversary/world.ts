import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Canaries } from "./canaries.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const DEFECTS = fileURLToPath(new URL("load-defect.ts", import.meta.url));

/** Whose key it is. `nobody` bears none. */
export type Who = "nobody" | "reader" | "runner" | "tenant" | "tenant-writer" | "tenant-admin";

export const WHO: readonly Who[] = ["nobody", "reader", "runner", "tenant", "tenant-writer", "tenant-admin"];

export interface Answer {
  /** 0: there was none. */
  readonly status: number;
  readonly text: string;
}

interface WorldOptions {
  readonly files: Readonly<Record<string, string>>;
  /** The name of a defect that is built into the server: see `defects.ts`. */
  readonly defect?: string | undefined;
  /** Default: keys of all kinds are made. */
  readonly isKeyless?: boolean;
}

/** A `pawl serve` with its canaries, and everything that was heard from it. It knows nothing of what is inside. */
export class World {
  readonly canaries: Canaries;
  readonly heard: { readonly from: string; readonly text: string }[] = [];
  readonly #folder: string;
  readonly #options: WorldOptions;
  readonly #keys = new Map<Who | "admin" | "victim", string>();
  #child: ChildProcess | undefined;
  #url = "";
  #said = "";

  private constructor(options: WorldOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), "pawl-adversary-"));
    this.canaries = new Canaries(this.#folder);
    for (const [name, text] of Object.entries(options.files)) {
      const file = join(this.app, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    mkdirSync(this.app, { recursive: true });
  }

  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.canaries.listen();
    await world.start();
    if (options.isKeyless !== true) await world.#makeKeys();
    return world;
  }

  get app(): string {
    return join(this.#folder, "app");
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** Everything that it has written to stdout and stderr. */
  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const { defect } = this.#options;
    const load = defect === undefined ? [] : ["--import", DEFECTS];
    const { variableSecret } = this.canaries;
    const child = spawn(process.execPath, [...load, MAIN, "serve", "--port", "0"], {
      cwd: this.app,
      env: {
        PATH: process.env["PATH"],
        HOME: this.#folder,
        PAWL_CANARY: variableSecret,
        ANTHROPIC_API_KEY: `sk-${variableSecret}`,
        OPENAI_API_KEY: `sk-${variableSecret}`,
        SANDSTORM_API_KEY: variableSecret,
        E2B_API_KEY: variableSecret,
        ...(defect === undefined ? {} : { PAWL_DEFECT: defect }),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const listening = Promise.withResolvers<string>();
    const hear = (chunk: Buffer) => {
      this.#said += chunk.toString();
      const [, url] = /Pawl listens on (\S+)/.exec(this.#said.slice(this.#saidBefore)) ?? [];
      if (url !== undefined) listening.resolve(url);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => listening.reject(new Error(`The server ended at its start:\n${this.#said}`)));
    this.#url = await listening.promise;
    this.#saidBefore = this.#said.length;
  }

  #saidBefore = 0;

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    const child = this.#child;
    if (child === undefined || !this.isAlive) return child?.exitCode ?? null;
    const ended = once(child, "exit");
    process.kill(child.pid ?? 0, signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  async close(): Promise<void> {
    await this.kill();
    this.canaries.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Sends a request as somebody, and keeps what is answered. Never rejects. */
  async ask(who: Who | "admin" | "victim", method: string, path: string, body?: unknown): Promise<Answer> {
    const key = this.#keys.get(who);
    const init: RequestInit = {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "x-api-key": key }),
      },
      signal: AbortSignal.timeout(30_000),
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    const answer = await this.send(path, init);
    if (who !== "victim") this.heard.push({ from: `${who} ${method} ${path}: ${answer.status}`, text: answer.text });
    return answer;
  }

  /** Begins to read a stream, and leaves it open until it is stopped. The status: 0 where there was none. */
  async open(who: Who, path: string, signal: AbortSignal): Promise<number> {
    const key = this.#keys.get(who) ?? "";
    try {
      return (await fetch(this.#url + path, { headers: { "x-api-key": key }, signal })).status;
    } catch {
      return 0;
    }
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await fetch(this.#url + path, init);
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }

  /** Keys of every kind, and none that the service has made. */
  get keys(): readonly string[] {
    return [...this.#keys.values(), "pawl_000000000000_x", ""];
  }

  keyOf(who: Who | "victim"): string | undefined {
    return this.#keys.get(who);
  }

  get url(): string {
    return this.#url;
  }

  async #makeKeys(): Promise<void> {
    const make = async (as: Who | "admin" | "victim", body: object) => {
      const { text } = await this.ask(as === "admin" ? "nobody" : "admin", "POST", "/keys", { name: as, ...body });
      const { data } = JSON.parse(text) as { data: { key: string } };
      this.#keys.set(as, data.key);
    };
    await make("admin", { scopes: ["admin"] });
    await make("reader", { scopes: ["read"] });
    await make("runner", { scopes: ["run"] });
    await make("tenant", { scopes: ["run"], tenant_id: "mallory" });
    await make("tenant-writer", { scopes: ["write"], tenant_id: "mallory" });
    await make("tenant-admin", { scopes: ["admin"], tenant_id: "mallory" });
    await make("victim", { scopes: ["admin"], tenant_id: "alice" });
  }
}

/** The `data` of an answer; undefined where it has none. */
export function dataOf({ text }: Answer): Record<string, unknown> | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: Record<string, unknown> | null };
    return data ?? undefined;
  } catch {
    return undefined;
  }
}
