import {
  type CreateMessageResult,
  type ElicitResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import type { Json } from "../../../core/json.ts";
import type { Task, TaskQuestion } from "../../../ports/executor.ts";
import type { CallMemory, SampledSpent } from "../../../ports/tools/agent-toolbox.ts";
import { McpFailure } from "../mcp-failure.ts";
import type { ToolAnswer } from "../server-tool.ts";
import type { Sampler } from "./sampler.ts";
import { type Asker, nameQuestion, readQuestion, toElicitResult } from "./server-question.ts";

/** A call that rests: its server waits for a person, or has said how it goes on with the answer. */
export class AsksPerson extends Error {
  readonly question: TaskQuestion;

  constructor(question: TaskQuestion) {
    super(question.message);
    this.question = question;
  }
}

/** `key` says where the records of the call stand among those of its step. */
export function toCallMemory(task: Task, key: string, paid?: (spent: SampledSpent) => void): CallMemory {
  return {
    runId: task.runId,
    id: `${task.idempotencyKey}:${key}`,
    key,
    record: (name, value) => task.record(name, value),
    recorded: (name) => task.recorded(name),
    payer: paid && { step: task, paid },
  };
}

export interface Asked {
  /** Where its questions to a person and their answers are on record. */
  readonly memory: CallMemory;
  /** Whether a call is begun again whose server did not wait for an answer; `answered`: where its tool has ended with an error. */
  readonly repeats: "always" | "answered" | "never";
}

/** Makes the call. `asking` answers what its server asks meanwhile. */
type Begin = (asking: AskingCall, signal: AbortSignal) => Promise<ToolAnswer>;

/** Calls that wait for a person while their server does: each holds a request open. */
const MAX_WAITING = 500;
const MAX_QUESTIONS = 20;

/** Calls whose server has asked, and which a later attempt of their step finds again while the process lives. */
export class AskingCalls {
  readonly #calls = new Map<string, AskingCall>();

  has({ id }: CallMemory): boolean {
    return this.#calls.has(id);
  }

  /** Begins a call, or goes on with the one that is under way. Throws an `McpFailure`. */
  async call({ memory, repeats }: Asked, begin: Begin, signal: AbortSignal): Promise<ToolAnswer | TaskQuestion> {
    const known = this.#calls.get(memory.id);
    if (known === undefined && repeats === "never") await refuseSecond(memory);
    const call = known ?? new AskingCall(memory, begin);
    this.#keep(call);
    try {
      const next = await call.next(memory, signal);
      if ("key" in next) {
        await memory.record(`${memory.key}/waits`, true);
        return next;
      }
      if (!call.endedUnanswered || next.result.isError !== true || repeats === "never") return this.#end(memory, next);
    } catch (failure) {
      this.#calls.delete(memory.id);
      if (failure instanceof AsksPerson) return failure.question;
      if (!call.endedUnanswered || repeats !== "always" || signal.aborted) throw failure;
    }
    // Its server has not waited for the answer. It asks again, and is given it.
    this.#calls.delete(memory.id);
    return await this.call({ memory, repeats }, begin, signal);
  }

  /** Nobody is going to answer any more. */
  endRun(runId: string): void {
    for (const [id, call] of this.#calls) if (call.runId === runId) this.#drop(id, call);
  }

  #keep(call: AskingCall): void {
    this.#calls.set(call.id, call);
    const [oldest] = this.#calls;
    if (this.#calls.size > MAX_WAITING && oldest !== undefined) this.#drop(...oldest);
  }

  #drop(id: string, call: AskingCall): void {
    this.#calls.delete(id);
    call.stop();
  }

  #end({ id }: CallMemory, answer: ToolAnswer): ToolAnswer {
    this.#calls.delete(id);
    return answer;
  }
}

/** The process that made the call is gone, and nobody knows how far its tool had come. */
async function refuseSecond({ key, recorded }: CallMemory): Promise<void> {
  if ((await recorded(`${key}/waits`)) === undefined) return;
  throw new McpFailure("INTERRUPTED", {
    message: "The call was cut off while its server waited for a person, and may not be repeated.",
    retryable: false,
    effect: "unknown",
  });
}

/** One call, with what its server has asked in the middle of it (revisions up to 2025-11-25). */
export class AskingCall {
  readonly id: string;
  readonly runId: string;
  /** That of the attempt that waits for it now. */
  #memory: CallMemory;
  readonly #own = new AbortController();
  readonly #open = new Map<string, { readonly question: TaskQuestion; resolve(answer: ElicitResult): void }>();
  readonly #counts = new Map<string, number>();
  readonly #ended: Promise<ToolAnswer>;
  #hasEnded = false;
  /** Has ended when no model is at work for it. */
  #sampling: Promise<unknown> = Promise.resolve();
  #heard = Promise.withResolvers<undefined>();

  constructor(memory: CallMemory, begin: Begin) {
    this.id = memory.id;
    this.runId = memory.runId;
    this.#memory = memory;
    this.#ended = begin(this, this.#own.signal).finally(() => {
      this.#hasEnded = true;
    });
    this.#ended.catch(() => undefined);
  }

  get memory(): CallMemory {
    return this.#memory;
  }

  /** It is over, and its server never got what it had asked for. */
  get endedUnanswered(): boolean {
    return this.#hasEnded && this.#open.size > 0;
  }

  stop(): void {
    this.#own.abort();
  }

  /** Its end, or the next question that has no answer on record. Rejects as the call does. */
  async next(memory: CallMemory, signal: AbortSignal): Promise<ToolAnswer | TaskQuestion> {
    this.#memory = memory;
    const stop = () => this.stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      for (;;) {
        await this.#giveAnswers();
        // Paid by the attempt that is here now.
        await this.#sampling;
        if (this.#hasEnded) return await this.#ended;
        const [asked] = this.#open.values();
        if (asked !== undefined && !this.#hasEnded && !this.#own.signal.aborted) return asked.question;
        this.#heard = Promise.withResolvers();
        await Promise.race([this.#ended.catch(() => undefined), this.#heard.promise]);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** The answer to a question of the server, as soon as a person has given it. */
  async wait(params: Json | undefined, asker: Asker): Promise<ElicitResult> {
    const name = nameQuestion(params);
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const question = count + this.#counts.size > MAX_QUESTIONS ? "it has asked too often" : readQuestion(params, asker);
    if (typeof question === "string") throw new ProtocolError(ProtocolErrorCode.InvalidParams, question);
    const key = `${this.#memory.key}/asks-${name}-${count}`;
    const known = toElicitResult(await this.#memory.recorded(key), question);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<ElicitResult>();
    this.#open.set(key, { question: { key, ...question }, resolve });
    this.#heard.resolve(undefined);
    return await promise;
  }

  /** A model's answer. The server is not told why there is none. */
  async sample(params: Json | undefined, sampler: Sampler): Promise<CreateMessageResult> {
    const answering = sampler.answer(params).catch(() => "no model has answered");
    this.#sampling = Promise.all([this.#sampling, answering]);
    const answer = await answering;
    if (typeof answer === "string") throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer);
    return answer;
  }

  async #giveAnswers(): Promise<void> {
    for (const [key, { question, resolve }] of this.#open) {
      const answer = toElicitResult(await this.#memory.recorded(key), question);
      if (answer === undefined || this.#hasEnded) continue;
      this.#open.delete(key);
      resolve(answer);
    }
  }
}
