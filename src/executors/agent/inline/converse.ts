import { writeExact } from "../../../core/exact-json.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Asks, Failed, Task } from "../../../ports/executor.ts";
import type { AgentTool, SampledSpent } from "../../../ports/tools/agent-toolbox.ts";
import type { JsonSchemas, Validate } from "../../../schemas/json-schemas.ts";
import { searchesItself, type TurnCall, type TurnReply } from "../../models/ask-model.ts";
import type { Model } from "../../models/create-models.ts";
import { fitTool } from "../../models/fit-tools.ts";
import type { CallOptions, ModelTool } from "../../models/language-model.ts";
import { type ModelTurn, readTurnRecord, toTurnRecord } from "../../models/model-turn.ts";
import { reserveCall, settleAnswer, type TurnBefore, toCutShort } from "../../models/reserve-call.ts";
import { Spending } from "../../models/spending.ts";
import { endName } from "../../models/turn-end.ts";
import type { ToolCallPart } from "../../models/turn-parts.ts";
import { toFailed, toInterrupted, toRefused } from "../../output/failure.ts";
import type { AgentRequest } from "./agent-request.ts";
import { askWithRetries, type Sent } from "./ask-with-retries.ts";
import { callTools, type Question } from "./call-tools.ts";
import { toKeptCall, turnsWithoutHidden, withoutHidden } from "./hidden-typing.ts";
import { readFinal } from "./read-final.ts";
import { toBlocks } from "./to-blocks.ts";
import { toPrompt, withCacheMarks } from "./to-prompt.ts";
import { toCounted } from "./tool-media.ts";
import { withTarget, withUniqueIds } from "./tool-names.ts";
import type { Transcript, TranscriptTurn } from "./transcript.ts";

export interface ReadyAgent {
  readonly request: AgentRequest;
  readonly task: Task;
  readonly model: Model;
  readonly settings: Partial<CallOptions>;
  readonly transcript: Omit<Transcript, "turns">;
  readonly tools: readonly AgentTool[];
  readonly providers: readonly ModelTool[];
  readonly validators: JsonSchemas;
  readonly validate: Validate | undefined;
  readonly repairs: number;
  readonly silenceMs: number | undefined;
  readonly patienceMs: number;
}

export type Conversed =
  | { readonly ok: true; readonly answer: FinalAnswer; readonly transcript: Transcript; readonly spending: Spending }
  | { readonly ok: false; readonly outcome: Failed | Asks };

interface FinalAnswer {
  readonly turn: ModelTurn;
  /** The value that was asked for with a schema, or read from the text. */
  readonly output: Json;
  readonly repaired: boolean;
}

/**
 * Talks with a model until it has answered: one turn is one call of the model, and the tools that it asks for. It is our
 * own loop, not the SDK's, since each turn and each result is on record before anything depends on it: an attempt that was
 * cut off goes on where the last one was, and neither pays nor acts twice.
 */
export async function converse(agent: ReadyAgent, signal: AbortSignal): Promise<Conversed> {
  const conversation = new Conversation(agent);
  try {
    return await conversation.run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ok: false, outcome: conversation.fail(toInterrupted("none")) };
  }
}

const MAX_NAMED = 10;
/** Agents may take more turns, but seldom do. */
const LIKELY_TURNS = 10;

class Conversation {
  readonly #agent: ReadyAgent;
  readonly #spending: Spending;
  readonly #turns: TranscriptTurn[] = [];
  readonly #ids = new Set<string>();
  /** Paid by earlier attempts. It counts towards the agent's own limit. */
  #paidBeforeMicro = 0;
  /** Tries of this attempt that the model did not answer. */
  #lostTries = 0;
  #misfits = 0;
  #before: TurnBefore | undefined;
  /** Tools that were called, and may have changed something. */
  readonly #acted = new Set<string>();

  constructor(agent: ReadyAgent) {
    this.#agent = agent;
    this.#spending = new Spending(agent.model.id);
  }

  async run(signal: AbortSignal): Promise<Conversed> {
    for (let turn = 1; ; turn += 1) {
      const reply = await this.#takeTurn(turn, signal);
      if (!reply.ok) return { ok: false, outcome: this.fail(reply.failed) };
      const { said } = reply;
      const calls = said.parts.filter((part) => part.type === "call" && !part.isProviders) as readonly ToolCallPart[];
      const isLast = turn >= this.#agent.request.maxTurns;
      const { ended } = said;
      const wantsMore = ended === "tools" || ended === "paused" || (ended === "cut" && calls.length > 0 && !isLast);
      const done = wantsMore
        ? await this.#act({ turn, said, calls, isLast, keep: reply.keep }, signal)
        : await this.#conclude({ said, isLast, keep: reply.keep });
      if (done !== undefined) return done;
    }
  }

  /** Adds to a failure what earlier turns have used and done. */
  fail(failed: Failed): Failed {
    const spending = this.#spending;
    spending.addCost(failed.costMicro);
    const spent = { costMicro: spending.costMicro, usage: spending.usage };
    if (this.#acted.size === 0) return { ...failed, ...spent };
    const called = [...this.#acted];
    const effect = failed.effect === "none" ? "unknown" : failed.effect;
    const message = `${failed.message} The agent has called ${called.slice(0, MAX_NAMED).join(", ")}${called.length > MAX_NAMED ? " ..." : ""}.`;
    return { ...failed, ...spent, effect, message, details: { ...asObject(failed.details), tools_called: called } };
  }

  /** A turn on record is not asked for again. */
  async #takeTurn(turn: number, signal: AbortSignal): Promise<Taken> {
    const { task } = this.#agent;
    const key = `turn-${turn}`;
    const known = readTurnRecord(await task.recorded(key));
    if (known !== undefined) {
      this.#spending.addUsage(known.usage);
      if (known.costMicro === null) this.#spending.addCost(null);
      else this.#paidBeforeMicro += known.costMicro;
      for (const part of known.parts) if (part.type === "call") this.#ids.add(part.id);
      return { ok: true, said: known, keep: async () => {} };
    }
    const limit = turn === 1 ? undefined : this.#findLimit();
    if (limit !== undefined) return { ok: false, failed: limit };
    const reply = await askWithRetries((tries) => this.#toCall(turn, tries), this.#retryOptions(), signal);
    if (!reply.ok) return reply;
    const { reserved } = reply;
    this.#settle(reply.turn, reserved);
    for (const message of reply.warnings) this.#log({ type: "warning", message });
    const unique = withUniqueIds(reply.turn.parts, { turn, taken: this.#ids });
    const said = { ...reply.turn, parts: unique.map((part) => withTarget(part, this.#agent.tools)) };
    this.#spending.add(said);
    const kept = withoutHidden(said, this.#turns);
    this.#logTurn(kept, turn);
    if (said.ended === "cut" && reserved.loweredBy !== undefined)
      return { ok: false, failed: toCutShort(this.#agent.model.id, reserved) };
    return { ok: true, said, keep: () => task.record(key, toTurnRecord(kept)) };
  }

  #settle(turn: ModelTurn, reserved: Sent): void {
    const answered = { ...turn, said: writeExact(turn.parts) };
    const isTrusted = settleAnswer(answered, reserved, (what) =>
      this.#log({ type: "warning", message: `${this.#agent.model.id} ${what}` }),
    );
    reserved.reservation.release();
    this.#before = isTrusted ? { bytes: reserved.bytes, usage: turn.usage } : undefined;
  }

  get #ownLeftMicro(): number | undefined {
    const { maxCostMicro } = this.#agent.request;
    return maxCostMicro === undefined
      ? undefined
      : maxCostMicro - this.#paidBeforeMicro - (this.#spending.costMicro ?? maxCostMicro);
  }

  #toCall(turn: number, tries: number): TurnCall {
    const { task, request, model, settings, tools, providers, silenceMs } = this.#agent;
    const { stepId, path } = task;
    const asked = {
      stepId,
      path,
      agent: request.name,
      attempt: turn + this.#lostTries,
      format: request.schema === undefined ? ("text" as const) : ("json" as const),
      schema: request.schema,
    };
    if (tries > 0) this.#log({ type: "note", message: `The model is asked again (try ${tries + 1}).` });
    const prompt = toPrompt({ ...this.#agent.transcript, turns: this.#turns }, model.kind);
    // Their order never changes, or the provider's cache would miss.
    const offered = [...providers, ...tools.map((tool) => fitTool(tool, model))];
    const marked = withCacheMarks({ prompt, tools: offered }, model.kind);
    const onText = (text: string) => task.emit({ type: "live", event: { type: "text", text } });
    return { model, asked, ...marked, settings, silenceMs, onText };
  }

  #retryOptions() {
    return {
      caller: this.#agent.task,
      totalMs: this.#agent.patienceMs,
      reserve: (call: TurnCall) =>
        reserveCall(
          { ...call, content: { prompt: toCounted(call.prompt), tools: call.tools }, searches: searchesItself(call) },
          {
            task: this.#agent.task,
            ownLeftMicro: this.#ownLeftMicro,
            // Without tools there is nothing to go on for.
            calls: call.tools.length === 0 ? 1 : Math.min(this.#agent.request.maxTurns, LIKELY_TURNS),
            before: this.#before,
          },
        ),
      onReply: ({ model }: TurnCall, reply: TurnReply, startedAt: number) => {
        const told = reply.ok
          ? { answeredBy: reply.turn.model, inputTokens: reply.turn.usage.input, outputTokens: reply.turn.usage.output }
          : { errorCode: reply.failed.code };
        const call = { kind: "model" as const, name: model.id, startedAt, endedAt: Date.now(), ...told };
        this.#agent.task.emit({ type: "call", call });
      },
      onFailure: (failed: Failed, delayMs: number) => {
        this.#lostTries += 1;
        // The reservation of a call of unknown cost is on record.
        this.#spending.addCost(failed.costMicro ?? 0);
        this.#log({ type: "warning", message: `${failed.message} It is asked again in ${delayMs / 1_000} s.` });
        this.#show(toRetryEvent(failed, { modelId: this.#agent.model.id, delayMs }));
      },
    };
  }

  /** The agent goes on: with the results of tools, or with a turn that its provider has paused. */
  async #act({ turn, said, calls, isLast, keep }: Act, signal: AbortSignal): Promise<Conversed | undefined> {
    if (isLast) return { ok: false, outcome: this.fail(this.#toExhausted(said)) };
    await keep();
    const { tools, task, validators } = this.#agent;
    const onStart = (name: string) => void this.#acted.add(name);
    const paid = (spent: SampledSpent) => this.#spending.add(spent);
    const { approve } = this.#agent.request;
    const isCut = said.ended !== "tools";
    const called = await callTools({ turn, calls, isCut, tools, task, validators, approve, onStart, paid }, signal);
    if (!called.ok) return { ok: false, outcome: this.#ask(called.question) };
    this.#turns.push({ said, results: called.results });
    return undefined;
  }

  /** Shows the arguments, so that the person can change them. */
  #ask({ key, call, tool, asked }: Question): Asks {
    const { costMicro, usage } = this.#spending;
    if (asked !== undefined) return { status: "asks", ...asked, costMicro, usage };
    const whose = tool.server === undefined ? "" : ` of the server "${tool.server}"`;
    const message = `The agent "${this.#agent.request.name}" wants to call the tool "${tool.tool}"${whose}.`;
    return {
      status: "asks",
      key,
      message,
      show: toKeptCall(call, this.#turns).input,
      allowEdit: true,
      costMicro,
      usage,
    };
  }

  /** The turn is the answer, unless it does not fit. */
  async #conclude({ said, isLast, keep }: Omit<Act, "turn" | "calls">): Promise<Conversed | undefined> {
    const { request, validate, repairs } = this.#agent;
    const read = await readFinal(said, { request, validate, model: this.#agent.model });
    if (read.ok) {
      await keep();
      this.#turns.push({ said, results: [] });
      const transcript = { ...this.#agent.transcript, turns: turnsWithoutHidden(this.#turns) };
      const answer = { turn: said, output: read.output, repaired: this.#misfits > 0 };
      return { ok: true, answer, transcript, spending: this.#spending };
    }
    // A turn that ends the attempt is not kept: another attempt asks for it anew.
    const { failed, objection } = read;
    const canRepair = objection !== undefined && this.#misfits < repairs && !isLast;
    const limit = canRepair ? this.#findLimit() : undefined;
    if (!canRepair || limit !== undefined) return { ok: false, outcome: this.fail(limit ?? failed) };
    this.#misfits += 1;
    await keep();
    this.#log({ type: "warning", message: `${failed.message} The model is asked again.` });
    this.#turns.push({ said, results: [], objection });
    return undefined;
  }

  /** A limit that is reached, before another turn is paid. */
  #findLimit(): Failed | undefined {
    const { request } = this.#agent;
    const { tokens } = this.#spending;
    if (request.maxTotalTokens !== undefined && tokens.total >= request.maxTotalTokens) {
      const message = `The agent "${request.name}" has used ${tokens.total} of the ${request.maxTotalTokens} tokens that it may use.`;
      return toRefused("AGENT_TOKENS_EXHAUSTED", message);
    }
    return undefined;
  }

  #toExhausted(said: ModelTurn): Failed {
    const { name, maxTurns } = this.#agent.request;
    const message = `The agent "${name}" has used up its ${maxTurns} turns without a final answer.`;
    return toFailed("AGENT_TURNS_EXHAUSTED", {
      message,
      retryable: false,
      effect: "none",
      details: { turns: maxTurns, last: toBlocks(withoutHidden(said, this.#turns).parts) },
    });
  }

  #logTurn(said: ModelTurn, turn: number): void {
    const { usage, costMicro, model, parts } = said;
    const { input = null, output = null, cacheRead = 0, cacheWrite = 0 } = usage;
    const tokens = {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    };
    const [stopReason, costUsd] = [endName(said), costMicro === null ? null : costMicro / 1_000_000];
    const message = { role: "assistant", model, content: toBlocks(parts), stop_reason: stopReason, usage: tokens };
    this.#log({ type: "assistant", turn, message, cost_usd: costUsd });
    for (const part of parts)
      if (part.type === "call") this.#show({ type: "tool_call", id: part.id, name: part.name, input: part.input });
    this.#show({ type: "turn", turn, stop_reason: stopReason, usage: tokens, cost_usd: costUsd });
  }

  #show(event: JsonObject): void {
    this.#agent.task.emit({ type: "live", event });
  }

  #log(event: Json): void {
    this.#agent.task.emit({ type: "log", event });
  }
}

/** Without the provider's own words, which may quote the conversation. */
function toRetryEvent(
  { code, details }: Failed,
  { modelId, delayMs }: { readonly modelId: string; readonly delayMs: number },
): JsonObject {
  const { host = modelId, reason, status } = isJsonObject(details) ? details : {};
  return { type: "retry", host, cause: String(reason ?? status ?? code), again_at: toIsoTime(Date.now() + delayMs) };
}

type Taken =
  | { readonly ok: true; readonly said: ModelTurn; keep(): Promise<void> }
  | { readonly ok: false; readonly failed: Failed };

interface Act {
  readonly turn: number;
  readonly said: ModelTurn;
  readonly calls: readonly ToolCallPart[];
  readonly isLast: boolean;
  keep(): Promise<void>;
}
