import { setTimeout } from "node:timers/promises";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";

interface KilledServerOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of `pawl serve`: for clients that cannot be told another port. */
  readonly args?: readonly string[];
}

/** `pawl serve` that is killed and started again on the same data; whoever asks it goes on asking. */
export class KilledServer {
  readonly #options: KilledServerOptions;
  #server: RunningServer | undefined;
  #isUp = Promise.withResolvers<string>();
  #isOver = false;
  kills = 0;

  constructor(options: KilledServerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#server = await startServer(this.#options.args ?? [], this.#options);
    this.#isUp.resolve(this.#server.url);
  }

  /** Without a word, as a machine does that loses its power. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) throw new Error("There is no server to kill.");
    this.#isUp = Promise.withResolvers();
    this.kills += 1;
    server.kill("SIGKILL");
    await server.ended;
  }

  /** Politely. Resolves with its exit code. */
  async stop(): Promise<number | null> {
    const server = this.#server;
    this.#isOver = true;
    server?.kill("SIGTERM");
    const ended = await server?.ended;
    return ended?.code ?? null;
  }

  /** Where it listens now, or as soon as it does again. */
  get url(): Promise<string> {
    return this.#isUp.promise;
  }

  /**
   * Asks until there is an answer: connections that break and 503 are tried again. Whether a request whose answer never came
   * was taken nobody can know.
   */
  async ask(path: string, init: RequestInit = {}): Promise<{ readonly response: Response; readonly attempts: number }> {
    for (let attempts = 1; ; attempts += 1) {
      const url = await this.url;
      try {
        const response = await fetch(url + path, init);
        const body = await response.arrayBuffer();
        if (response.status !== 503) return { response: new Response(body, response), attempts };
      } catch (error) {
        if (this.#isOver) throw error;
      }
      await setTimeout(20);
    }
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}) {
    return this.ask(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  }

  /** The `data` of an answer that must be good. */
  async get(path: string): Promise<unknown> {
    const { response } = await this.ask(path);
    const { data, error } = (await response.json()) as { data: unknown; error: unknown };
    if (error !== null) throw new Error(`${path}: ${JSON.stringify(error)}`);
    return data;
  }
}

/** Follows a run through as many servers as it takes, each time from the last id that was seen. */
export async function followThroughKills(server: KilledServer, runId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const url = await server.url;
    try {
      const last = ids.at(-1);
      const response = await fetch(
        `${url}/runs/${runId}/stream`,
        last === undefined ? {} : { headers: { "last-event-id": last } },
      );
      if (response.status === 200 && (await readIds(response, ids)) === "ended") return ids;
    } catch {
      // Cut off: what was seen was seen.
    }
    await setTimeout(20);
  }
}

async function readIds(response: Response, ids: string[]): Promise<"ended" | "cut off"> {
  const decoder = new TextDecoder();
  let rest = "";
  let hasEnded = false;
  for await (const chunk of response.body ?? []) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const [, id] = /^id: (.*)$/m.exec(event) ?? [];
      if (id !== undefined) ids.push(id);
      if (/^event: end$/m.test(event)) hasEnded = true;
    }
  }
  return hasEnded ? "ended" : "cut off";
}
