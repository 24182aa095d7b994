import { setTimeout } from "node:timers/promises";
import type { Json } from "../../../src/core/json.ts";
import type { PawlProcess } from "../cluster/pawl-process.ts";

export interface Answer {
  readonly status: number;
  readonly data: Json;
  readonly code: string | undefined;
}

/** A request that a client had to send again, though somebody listened. */
export interface FailedRequest {
  readonly at: number;
  readonly until: number;
  readonly process: string;
  readonly what: string;
}

const AGAIN_MS = 100;
/** A request for the run of a process that has died waits until another one has taken the run over. */
const TIMEOUT_MS = 60_000;

/** Whether the same request may be answered otherwise in a moment. */
const PASSING_CODES = new Set(["IDEMPOTENCY_IN_FLIGHT", "OWNER_SILENT", "OWNER_GONE", "RUN_ELSEWHERE"]);

/** Asks as a careful program does: whichever process listens, and again until there is an answer. */
export class Client {
  readonly failed: FailedRequest[] = [];
  readonly #processes: readonly PawlProcess[];
  #next = 0;
  requests = 0;

  constructor(processes: readonly PawlProcess[]) {
    this.#processes = processes;
  }

  get(path: string): Promise<Answer> {
    return this.#ask(path, {});
  }

  post(path: string, body: unknown, key?: string): Promise<Answer> {
    const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) };
    return this.#ask(path, { method: "POST", body: JSON.stringify(body), headers });
  }

  async #ask(path: string, init: RequestInit): Promise<Answer> {
    for (;;) {
      this.#next += 1;
      const process = this.#processes[this.#next % this.#processes.length];
      const answer = process === undefined ? undefined : await this.#askOnce(process, path, init);
      if (answer !== undefined) return answer;
      await setTimeout(AGAIN_MS);
    }
  }

  async #askOnce(process: PawlProcess, path: string, init: RequestInit): Promise<Answer | undefined> {
    const at = Date.now();
    const fail = (what: string) => {
      this.failed.push({
        at,
        until: Date.now(),
        process: process.name,
        what: `${init.method ?? "GET"} ${path}: ${what}`,
      });
    };
    this.requests += 1;
    try {
      const response = await fetch(process.url + path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const { data, error } = (await response.json()) as { data: Json; error: { code: string } | null };
      const code = error?.code;
      if (code !== undefined && PASSING_CODES.has(code)) return undefined;
      if (response.status < 500) return { status: response.status, data, code };
      fail(`${response.status} ${code}`);
    } catch (error) {
      const what = codeOf(error);
      // Nobody listens: whoever sends this knows that nothing was done.
      if (what !== "ECONNREFUSED") fail(what);
    }
    return undefined;
  }
}

function codeOf(error: unknown): string {
  const { cause, name } = error as { readonly cause?: { readonly code?: string }; readonly name?: string };
  return cause?.code ?? name ?? String(error);
}
