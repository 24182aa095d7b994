import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { UseLimits } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { TerminalViews } from "../../ports/terminals/terminal-views.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";
import type { ApprovalAnswer, RunHost, RunNotice, RunStart } from "../run-host.ts";
import { parseLine, type Reply, type Request, toRequest, toSentError } from "./messages.ts";
import { readLines } from "./read-lines.ts";
import { isTerminalMethod, TerminalCalls, type TerminalMethod } from "./terminal-calls.ts";

export interface SocketServerOptions {
  readonly path: string;
  readonly host: RunHost;
  /** Callers send the text and never a graph: what they say is not trusted to be consistent. */
  /** `source`: as a person knows it. `options`: those of the run. */
  compile(text: string, source: string | undefined, options: JsonObject): Promise<CompiledDefinition>;
  /** A tool over the terminals of this process. */
  callTerminal(tool: string, request: JsonObject, signal: AbortSignal): Promise<Json>;
  /** The terminals of this process, for people. */
  terminals(): Promise<TerminalViews>;
}

/** The longest request: a definition of 1 MB with an input as large as an output may be, escaped. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** A caller that watches and does not read is let go before it costs the owner more memory than this. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** What is of the moment is left out for a caller that reads more slowly than it comes. */
const MAX_UNREAD_LIVE_BYTES = 256 * 1024;

/** How long a caller may take to read what it has been sent when the owner leaves. */
const CLOSE_GRACE_MS = 1_000;

/** Lets other processes of the same user reach the host of this one. */
export class SocketServer {
  readonly #options: SocketServerOptions;
  readonly #server: Server;
  readonly #callers = new Set<Socket>();

  /** Resolves when callers can connect. A file that an earlier owner left at the path is replaced. */
  static async listen(options: SocketServerOptions): Promise<SocketServer> {
    const server = new SocketServer(options);
    await server.#listen();
    return server;
  }

  private constructor(options: SocketServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#welcome(socket));
  }

  get callers(): number {
    return this.#callers.size;
  }

  /** Callers see the connection end, and look for the next owner. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#callers) socket.destroySoon();
    const hurry = setTimeout(() => {
      for (const socket of this.#callers) socket.destroy();
    }, CLOSE_GRACE_MS);
    await closed;
    clearTimeout(hurry);
  }

  #listen(): Promise<void> {
    const { path } = this.#options;
    rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      // The file is made within this call: nobody else can connect even for a moment.
      const mask = process.umask(0o177);
      try {
        this.#server.listen(path, () => {
          this.#server.off("error", reject);
          this.#server.on("error", () => undefined);
          resolve();
        });
      } finally {
        process.umask(mask);
      }
    });
  }

  #welcome(socket: Socket): void {
    const caller = new Caller(socket, this.#options);
    this.#callers.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#callers.delete(socket);
      caller.leave();
    });
    readLines(socket, MAX_REQUEST_BYTES, {
      line: (line) => void caller.handle(line),
      tooLong: () => socket.destroy(),
    });
  }
}

/** What is asked about one run. */
type RunMethod = Exclude<Request["method"], "callTerminal" | "abortCall" | TerminalMethod>;

/** One connection. Whatever it sends, it can at worst be let go. */
class Caller {
  readonly #socket: Socket;
  readonly #options: SocketServerOptions;
  readonly #watched = new Map<string, () => void>();
  /** Tools that are called, by the number of the request. */
  readonly #calls = new Map<number, AbortController>();
  readonly #terminals: TerminalCalls;

  constructor(socket: Socket, options: SocketServerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#terminals = new TerminalCalls(() => options.terminals());
  }

  async handle(line: string): Promise<void> {
    const request = toRequest(parseLine(line));
    if (request === undefined) {
      this.#socket.destroy();
      return;
    }
    const { id } = request;
    try {
      this.#send({ id, result: (await this.#perform(request)) ?? null });
    } catch (error) {
      this.#send({ id, error: toSentError(error) });
    }
  }

  leave(): void {
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
    for (const call of this.#calls.values()) call.abort();
    this.#terminals.leave();
  }

  async #perform({ id, method, params }: Request): Promise<Json | undefined> {
    if (method === "callTerminal") return this.#callTerminal(id, params);
    if (method === "abortCall") return this.#abortCall(params);
    if (isTerminalMethod(method)) return this.#terminals.perform(method, params);
    return this.#performOn(textOf(params, "run_id"), method, params);
  }

  async #performOn(runId: string, method: RunMethod, params: JsonObject): Promise<Json | undefined> {
    const { host } = this.#options;
    switch (method) {
      case "startRun":
        return toJson(await host.startRun(await this.#toStart(params)));
      case "resumeRun":
        return toJson(await host.resumeRun(runId));
      case "cancelRun":
        return toJson(await host.cancelRun(runId, { ...optional(params, "by"), ...optional(params, "reason") }));
      case "answerApproval":
        await host.answerApproval(runId, textOf(params, "path"), toAnswer(params["answer"]));
        return undefined;
      case "sendSignal":
        await host.sendSignal(runId, textOf(params, "name"), params["payload"] ?? null);
        return undefined;
      case "deleteRun":
        await host.deleteRun(runId);
        return undefined;
      case "settled":
        return toJson(await host.settled(runId));
      case "watch":
        if (!this.#watched.has(runId))
          this.#watched.set(
            runId,
            host.watch(runId, (notice) => this.#tell(runId, notice)),
          );
        return undefined;
      case "unwatch":
        this.#watched.get(runId)?.();
        this.#watched.delete(runId);
        return undefined;
    }
  }

  async #callTerminal(id: number, params: JsonObject): Promise<Json> {
    const { request } = params;
    if (!isJsonObject(request)) throw refused("`request` is an object.");
    const call = new AbortController();
    this.#calls.set(id, call);
    try {
      return await this.#options.callTerminal(textOf(params, "tool"), request, call.signal);
    } finally {
      this.#calls.delete(id);
    }
  }

  /** Of a call that has ended meanwhile nothing is left to abort. */
  #abortCall({ call }: JsonObject): undefined {
    if (typeof call === "number") this.#calls.get(call)?.abort();
  }

  async #toStart(params: JsonObject): Promise<RunStart> {
    const { input, options, max_cost_micro: maxCostMicro, uses, source } = params;
    if (!isJsonObject(input) || !isJsonObject(options)) throw refused("`input` and `options` are objects.");
    if (maxCostMicro !== undefined && !Number.isSafeInteger(maxCostMicro))
      throw refused("`max_cost_micro` is an integer.");
    const file = typeof source === "string" ? source : undefined;
    return {
      runId: textOf(params, "run_id"),
      definition: await this.#options.compile(textOf(params, "text"), file, options),
      input,
      options,
      ...(typeof maxCostMicro === "number" ? { maxCostMicro } : {}),
      ...(uses === undefined ? {} : { uses: toUses(uses) }),
      ...(params["on_exceeded"] === "ask" ? { onExceeded: "ask" as const } : {}),
      ...("callback_url" in params ? { callbackUrl: textOf(params, "callback_url") } : {}),
      ...("tenant_id" in params ? { tenantId: textOf(params, "tenant_id") } : {}),
      ...("parent_run_id" in params ? { parentRunId: textOf(params, "parent_run_id") } : {}),
      ...("lineage" in params ? { lineage: toLineage(params["lineage"]) } : {}),
    };
  }

  #tell(runId: string, notice: RunNotice): void {
    if (notice.type === "live" && this.#socket.writableLength > MAX_UNREAD_LIVE_BYTES) return;
    this.#send({ watch: runId, notice: toJson(notice) });
  }

  #send(reply: Reply): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(`${JSON.stringify(reply)}\n`);
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#socket.destroy();
  }
}

function toUses(given: Json): UseLimits {
  const uses = isJsonObject(given) ? given : {};
  const names = ["maxTokens", "maxTries", "maxDurationMs"] as const;
  const limits = names.flatMap((name) => {
    const limit = uses[name];
    if (limit === undefined) return [];
    if (!Number.isSafeInteger(limit)) throw refused("`uses` are integers.");
    return [[name, Number(limit)] as const];
  });
  return Object.fromEntries(limits);
}

function textOf(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw refused(`\`${name}\` is a text.`);
  return value;
}

function optional<Name extends string>(params: JsonObject, name: Name): { readonly [key in Name]?: string } {
  return typeof params[name] === "string" ? ({ [name]: params[name] } as { [key in Name]: string }) : {};
}

function toLineage(value: Json | undefined): NonNullable<RunStart["lineage"]> {
  if (!isJsonObject(value)) throw refused("`lineage` is an object.");
  const { kind } = value;
  if (kind !== "rerun" && kind !== "fork") throw refused("A lineage is that of a rerun or a fork.");
  return { kind, run: textOf(value, "run"), fromPath: textOf(value, "fromPath") };
}

function toAnswer(value: Json | undefined): ApprovalAnswer {
  if (!isJsonObject(value)) throw refused("`answer` is an object.");
  const { answer, edited, asked } = value;
  if (answer !== "approve" && answer !== "reject" && answer !== "skip")
    throw refused("An answer is approve, reject or skip.");
  if (asked !== undefined && !Number.isSafeInteger(asked)) throw refused("`asked` is the number of an event.");
  return {
    answer,
    ...(typeof asked === "number" ? { asked } : {}),
    ...optional(value, "by"),
    ...optional(value, "comment"),
    edited,
  };
}

function refused(message: string): PawlError {
  return new PawlError("USAGE", { message: `The owner refused a request: ${message}` });
}

/** Records and notices are plain data: what JSON leaves out of them is absent anyway. */
function toJson(value: object): Json {
  return value as Json;
}
