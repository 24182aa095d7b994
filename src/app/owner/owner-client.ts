import { randomUUID } from "node:crypto";
import { connect as connectSocket } from "node:net";
import { Agent, fetch } from "undici";
import { isErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { EVERY_RUN, type RunHost, type RunNotice, type RunRequest, type RunStart } from "../../hosts/run-host.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { TerminalCall } from "../../ports/terminals/terminal-tools.ts";
import type {
  ScreenChange,
  ScreenView,
  TerminalSummary,
  TerminalViews,
  ViewWindow,
} from "../../ports/terminals/terminal-views.ts";
import type { Waits } from "../../ports/waits.ts";

/** Asked for what takes no time, an owner that works has answered by then. */
const PATIENCE_MS = 20_000;

interface Asking {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The host of another process, over HTTP on its socket. Calls reject with `OWNER_GONE`, or `OWNER_SILENT` if a quick one gets no answer. */
export class OwnerClient implements RunHost {
  readonly #agent: Agent;
  readonly #patienceMs: number;
  /** Aborts when the owner is gone, or nothing is wanted from it any more. */
  readonly #over = new AbortController();
  readonly #gone: (() => void)[] = [];

  /** Rejects with the system's error where no process listens. */
  static async connect(path: string, patienceMs = PATIENCE_MS): Promise<OwnerClient> {
    await new Promise<void>((resolve, reject) => {
      const socket = connectSocket(path, () => {
        resolve();
        socket.destroy();
      });
      socket.once("error", reject);
    });
    return new OwnerClient(path, patienceMs);
  }

  private constructor(path: string, patienceMs: number) {
    this.#patienceMs = patienceMs;
    this.#agent = new Agent({
      connect: { socketPath: path },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 60_000,
    });
    // While this request lasts, the owner knows that it is needed, and this process knows that the owner is there.
    this.#readLines(`/owner/runs/${EVERY_RUN}/notices`, () => undefined, this.#over.signal).then(
      () => this.#end(),
      // An owner that refuses is there.
      (error: unknown) => {
        if (isPawlError(error) && error.code === "OWNER_GONE") this.#end();
      },
    );
  }

  /** This process drives nothing itself. */
  readonly driving = 0;

  /** Tells the owner that a server waits for the data, and where it takes requests, as long as this process uses the owner. */
  announce(url: string): void {
    const path = `/owner/successor?url=${encodeURIComponent(url)}`;
    this.#readLines(path, () => undefined, this.#over.signal).catch(() => undefined);
  }

  async finishOutbox(ids: readonly number[]): Promise<void> {
    await this.#askNow("POST", "/owner/outbox/finished", { body: { ids } });
  }

  /** The owner recovered when it became the owner. */
  async recover(): Promise<{ readonly resumed: number }> {
    return { resumed: 0 };
  }

  async startRun({ definition: { text, source }, hasNewId: _, options = {}, ...start }: RunStart): Promise<RunRecord> {
    const body = { ...start, options, text, source };
    return toRecord(await this.#askNow("POST", "/owner/runs", { body }));
  }

  async request(runId: string, request: RunRequest): Promise<RunRecord> {
    const path = `/owner/runs/${encodeURIComponent(runId)}/requests`;
    return toRecord(await this.#askNow("POST", path, { body: { request } }));
  }

  async deleteRun(runId: string): Promise<void> {
    await this.#askNow("DELETE", `/owner/runs/${encodeURIComponent(runId)}`);
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, this.#over.signal]);
    // A connection that drops is told by the end of the other one.
    this.#readLines(
      `/owner/runs/${encodeURIComponent(runId)}/notices`,
      (line) => {
        if (!signal.aborted && line !== null) listen(line as unknown as RunNotice);
      },
      signal,
    ).catch(() => undefined);
    return () => left.abort();
  }

  async settled(runId: string): Promise<RunRecord> {
    return toRecord(await this.#ask("GET", `/owner/runs/${encodeURIComponent(runId)}/settled`));
  }

  async waits(runs: readonly string[]): Promise<Waits> {
    return (await this.#askNow("GET", `/owner/waits?runs=${encodeURIComponent(runs.join())}`)) as unknown as Waits;
  }

  /** If the signal aborts, the owner cancels the call, which is not waited for. */
  async callTerminal({ tool, ...body }: TerminalCall, signal: AbortSignal): Promise<Json> {
    signal.throwIfAborted();
    return this.#ask("POST", `/owner/tools/${encodeURIComponent(tool)}`, { body: { ...body }, signal });
  }

  readonly terminals: TerminalViews = {
    list: async () => (await this.#askNow("GET", "/owner/terminals")) as unknown as readonly TerminalSummary[],
    kill: async (id) => void (await this.#ask("DELETE", `/owner/terminals/${encodeURIComponent(id)}`)),
    type: async (id, data) =>
      void (await this.#ask("POST", `/owner/terminals/${encodeURIComponent(id)}/keys`, { body: { data } })),
    watchScreen: (id, window) => this.#watchScreen(id, window),
  };

  /** The runs go on in their owner; only what connects to it ends. */
  async park(): Promise<void> {
    this.#end();
  }

  whenGone(listen: () => void): void {
    if (this.#over.signal.aborted) listen();
    else this.#gone.push(listen);
  }

  #end(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(ownerGone());
    for (const listen of this.#gone.splice(0)) listen();
    this.#agent.destroy().catch(() => undefined);
  }

  /** For what takes no time. */
  async #askNow(method: string, path: string, asking: Asking = {}): Promise<Json> {
    const patience = AbortSignal.timeout(this.#patienceMs);
    try {
      return await this.#ask(method, path, { ...asking, signal: patience });
    } catch (error) {
      throw patience.aborted && error === patience.reason ? ownerSilent(this.#patienceMs) : error;
    }
  }

  async #ask(method: string, path: string, { body, signal }: Asking = {}): Promise<Json> {
    const response = await this.#fetch(path, signal, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: writeExact(body) }),
    });
    const answered = parseJson(await this.#orWhyNot(response.text(), signal)) ?? null;
    if (response.ok && isJsonObject(answered)) return answered["data"] ?? null;
    throw toError(answered);
  }

  async #watchScreen(id: string, { columns, rows }: ViewWindow): Promise<ScreenView> {
    const view = randomUUID();
    const closed = new AbortController();
    const path = `/owner/terminals/${encodeURIComponent(id)}/screen?columns=${columns}&rows=${rows}&view=${view}`;
    const lines = await this.#openLines(path, AbortSignal.any([closed.signal, this.#over.signal]));
    return {
      next: async () => {
        const line = await lines.next().catch(() => undefined);
        if (line !== undefined && line.done !== true) return line.value as unknown as ScreenChange;
        throw closed.signal.aborted
          ? new PawlError("TERMINAL_NOT_FOUND", { message: "The view is closed." })
          : ownerGone();
      },
      // A connection that has dropped meanwhile is told by `next`.
      setWindow: (window) => void this.#ask("PUT", `/owner/views/${view}`, { body: window }).catch(() => undefined),
      close: () => closed.abort(),
    };
  }

  async #readLines(path: string, listen: (line: Json) => void, signal: AbortSignal): Promise<void> {
    const lines = await this.#openLines(path, signal);
    for (;;) {
      const { value, done } = await this.#orWhyNot(lines.next(), signal);
      if (done === true) return;
      listen(value);
    }
  }

  /** Lines of JSON, until the owner ends them. */
  async #openLines(path: string, signal: AbortSignal): Promise<AsyncGenerator<Json>> {
    const response = await this.#fetch(path, signal, {});
    if (!response.ok) throw toError(parseJson(await this.#orWhyNot(response.text(), signal)) ?? null);
    return readLines(response.body);
  }

  async #fetch(path: string, signal: AbortSignal | undefined, init: RequestInit) {
    const over = this.#over.signal;
    const asked = {
      ...init,
      dispatcher: this.#agent,
      signal: signal === undefined ? over : AbortSignal.any([signal, over]),
    };
    // The types of the platform's `fetch` and of this one, which can use a socket, differ in name only.
    return this.#orWhyNot(fetch(`http://owner${path}`, asked as Parameters<typeof fetch>[1]), signal);
  }

  /** A request that fails was broken off by who asked, or its owner is gone. */
  async #orWhyNot<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await work;
    } catch {
      throw signal?.aborted === true && !this.#over.signal.aborted ? signal.reason : ownerGone();
    }
  }
}

async function* readLines(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Json> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield parseExact(line);
  }
}

function toError(answered: Json): Error {
  const error = isJsonObject(answered) ? answered["error"] : undefined;
  if (!isJsonObject(error)) return new Error("The owner answered without an error and without a result.");
  const { code, message, remedy, details } = error;
  if (typeof code !== "string" || !isErrorCode(code)) return new Error(String(message));
  return new PawlError(code, {
    message: String(message),
    ...(typeof remedy === "string" && remedy !== "" ? { remedy } : {}),
    details: details === null ? undefined : details,
  });
}

function toRecord(record: Json): RunRecord {
  if (!isJsonObject(record) || typeof record["id"] !== "string") throw new Error("The owner answered without a run.");
  return record as unknown as RunRecord;
}

function ownerSilent(patienceMs: number): PawlError {
  const seconds = Math.round(patienceMs / 1_000);
  return new PawlError("OWNER_SILENT", {
    message: `The process that owns the data directory has not answered for ${seconds} s.`,
  });
}

function ownerGone(): PawlError {
  return new PawlError("OWNER_GONE", { message: "The process that owns the data directory is gone." });
}
