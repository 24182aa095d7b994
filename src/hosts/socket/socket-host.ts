import { connect, type Socket } from "node:net";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { TerminalViews } from "../../ports/terminals/terminal-views.ts";
import type { ApprovalAnswer, RunHost, RunNotice, RunStart } from "../run-host.ts";
import { type Method, parseLine, toError } from "./messages.ts";
import { readLines } from "./read-lines.ts";
import { SocketTerminals } from "./socket-terminals.ts";

interface PendingCall {
  resolve(result: Json): void;
  reject(error: Error): void;
}

/** The owner is trusted; the bound only keeps a broken one from filling the memory. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** Asked for so much, an owner that works has answered. */
const PATIENCE_MS = 30_000;

/**
 * The host of another process. Whatever is pending when the connection drops rejects with `OWNER_GONE`; what should be done at
 * once and is not answered rejects with `OWNER_SILENT`, as nobody knows then whether it will be done.
 */
export class SocketHost implements RunHost {
  readonly #socket: Socket;
  readonly #patienceMs: number;
  readonly #pending = new Map<number, PendingCall>();
  readonly #watchers = new Map<string, Set<(notice: RunNotice) => void>>();
  readonly #gone: (() => void)[] = [];
  #lastId = 0;
  #isGone = false;

  /** Rejects with the system's error where nobody listens. */
  static async connect(path: string, { patienceMs = PATIENCE_MS } = {}): Promise<SocketHost> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new SocketHost(socket, patienceMs);
  }

  private constructor(socket: Socket, patienceMs: number) {
    this.#socket = socket;
    this.#patienceMs = patienceMs;
    socket.on("error", () => undefined);
    socket.on("close", () => this.#end());
    readLines(socket, MAX_REPLY_BYTES, { line: (line) => this.#receive(line), tooLong: () => socket.destroy() });
  }

  /** This process drives nothing itself. */
  readonly driving = 0;

  /** The owner recovered when it became the owner. */
  async recover(): Promise<{ readonly resumed: number }> {
    return { resumed: 0 };
  }

  async startRun(start: RunStart): Promise<RunRecord> {
    const {
      definition,
      input,
      options = {},
      maxCostMicro,
      uses,
      onExceeded,
      callbackUrl,
      runId,
      tenantId,
      parentRunId,
      lineage,
    } = start;
    const { text, source } = definition;
    return this.#callForRecord("startRun", {
      text,
      input,
      options,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(source === undefined ? {} : { source }),
      ...(maxCostMicro === undefined ? {} : { max_cost_micro: maxCostMicro }),
      ...(uses === undefined ? {} : { uses: { ...uses } }),
      ...(onExceeded === undefined ? {} : { on_exceeded: onExceeded }),
      ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
      ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
      ...(parentRunId === undefined ? {} : { parent_run_id: parentRunId }),
      ...(lineage === undefined ? {} : { lineage: { ...lineage } }),
    });
  }

  resumeRun(runId: string): Promise<RunRecord> {
    return this.#callForRecord("resumeRun", { run_id: runId });
  }

  cancelRun(runId: string, options: { readonly by?: string; readonly reason?: string }): Promise<RunRecord> {
    return this.#callForRecord("cancelRun", { run_id: runId, ...options });
  }

  async answerApproval(runId: string, path: string, answer: ApprovalAnswer): Promise<void> {
    await this.#callNow("answerApproval", { run_id: runId, path, answer: { ...answer } });
  }

  async sendSignal(runId: string, name: string, payload: Json): Promise<void> {
    await this.#callNow("sendSignal", { run_id: runId, name, payload });
  }

  async deleteRun(runId: string): Promise<void> {
    await this.#callNow("deleteRun", { run_id: runId });
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    const listeners = this.#watchers.get(runId) ?? new Set();
    if (listeners.size === 0) this.#callAndForget("watch", runId);
    this.#watchers.set(runId, listeners);
    listeners.add(listen);
    return () => {
      if (!listeners.delete(listen) || listeners.size > 0) return;
      this.#watchers.delete(runId);
      this.#callAndForget("unwatch", runId);
    };
  }

  async settled(runId: string): Promise<RunRecord> {
    return toRecord("settled", await this.#call("settled", { run_id: runId }));
  }

  /** Where the signal aborts, the owner breaks the call off; nobody waits for that. */
  async callTerminal(tool: string, request: JsonObject, signal: AbortSignal): Promise<Json> {
    signal.throwIfAborted();
    const answer = this.#call("callTerminal", { tool, request });
    const id = this.#lastId;
    const abort = () => {
      this.#pending.get(id)?.reject(signal.reason);
      this.#pending.delete(id);
      this.#call("abortCall", { call: id }).catch(() => undefined);
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** The owner's terminals, for people. */
  readonly terminals: TerminalViews = new SocketTerminals((method, params) => this.#call(method, params));

  /** The runs go on in their owner; only this connection ends. */
  async park(): Promise<void> {
    this.#socket.destroy();
  }

  /** Calls once, when the connection has ended. */
  whenGone(listen: () => void): void {
    if (this.#isGone) listen();
    else this.#gone.push(listen);
  }

  async #callForRecord(method: Method, params: JsonObject): Promise<RunRecord> {
    return toRecord(method, await this.#callNow(method, params));
  }

  /** Of something that takes no time. */
  async #callNow(method: Method, params: JsonObject): Promise<Json> {
    const answer = this.#call(method, params);
    const id = this.#lastId;
    const timer = setTimeout(() => {
      this.#pending.get(id)?.reject(ownerSilent(this.#patienceMs));
      this.#pending.delete(id);
    }, this.#patienceMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  #call(method: Method, params: JsonObject): Promise<Json> {
    if (this.#isGone) return Promise.reject(ownerGone());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  /** Where the connection drops, nothing is watched any more, which is all that was wanted or is told elsewhere. */
  #callAndForget(method: "watch" | "unwatch", runId: string): void {
    this.#call(method, { run_id: runId }).catch(() => undefined);
  }

  #receive(line: string): void {
    const reply = parseLine(line);
    if (!isJsonObject(reply)) return;
    const { id, result, error, watch, notice } = reply;
    if (typeof watch === "string" && isJsonObject(notice)) {
      for (const listen of this.#watchers.get(watch) ?? []) listen(notice as unknown as RunNotice);
      return;
    }
    const call = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (call === undefined || typeof id !== "number") return;
    this.#pending.delete(id);
    if (error === undefined) call.resolve(result ?? null);
    else call.reject(toError(error));
  }

  #end(): void {
    this.#isGone = true;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(ownerGone());
    for (const listen of this.#gone.splice(0)) listen();
  }
}

function toRecord(method: Method, record: Json): RunRecord {
  if (!isJsonObject(record) || typeof record["id"] !== "string")
    throw new Error(`The owner answered ${method} without a run.`);
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
