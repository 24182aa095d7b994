import { createHash } from "node:crypto";
import type { CreateMessageResult } from "@modelcontextprotocol/client";
import { isErrorCode } from "../../../core/errors/error-table.ts";
import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { asObject, isJsonObject, type Json } from "../../../core/json.ts";
import type { Failed } from "../../../ports/executor.ts";
import type { CallMemory } from "../../../ports/tools/agent-toolbox.ts";
import type { Generate } from "../../../ports/tools/generate.ts";
import { toRefused } from "../../output/failure.ts";
import { McpFailure, refusal } from "../mcp-failure.ts";
import type { ServerSettings } from "../server-entry.ts";
import { findSpecFlaw } from "../tool-list-check.ts";
import type { Asker } from "./server-question.ts";

interface SamplerParts {
  readonly settings: NonNullable<ServerSettings["sampling"]>;
  readonly asker: Asker;
  readonly generate: Generate;
  /** The call, with the memory of the attempt that waits for it now. */
  readonly asking: { readonly memory: CallMemory };
  readonly signal: AbortSignal;
}

/** Of one request: what a model reads is paid too. */
const MAX_CHARS = 200_000;

/** What the server of one call has a model do: its entry allows it, and the step that calls pays as for an answer of its own. */
export class Sampler {
  /** Why its server has got no answer of a model. */
  failure: unknown;
  readonly #parts: SamplerParts;
  readonly #counts = new Map<string, number>();
  #calls = 0;

  constructor(parts: SamplerParts) {
    this.#parts = parts;
  }

  /** The answer on record to the same request, or the model's. A text says why no model is asked. Throws an `McpFailure`. */
  async answer(params: Json | undefined): Promise<CreateMessageResult | string> {
    const { model, max_tokens: tokens = 4_096, max_calls: calls = 10 } = this.#parts.settings;
    const request = readRequest(params, tokens, this.#parts.asker);
    this.#calls += 1;
    if (this.#calls > calls) return `it has asked a model ${calls} times`;
    if (typeof request === "string") return request;
    const hash = createHash("sha256").update(writeExact(request)).digest("hex").slice(0, 16);
    const count = (this.#counts.get(hash) ?? 0) + 1;
    this.#counts.set(hash, count);
    try {
      return await this.#ask({ ...request, model }, `sample-${hash}-${count}`);
    } catch (error) {
      const isOurs = isPawlError(error) && !isStorageFailure(error);
      const refused = isOurs && toFailure(toRefused(error.code, error.message, error.details), this.#parts.asker);
      this.failure = refused || error;
      throw this.failure;
    }
  }

  async #ask(request: Request & { readonly model: string | undefined }, name: string): Promise<CreateMessageResult> {
    const { asker, generate, signal, asking } = this.#parts;
    const { key, payer, record, recorded } = asking.memory;
    if (payer === undefined) throw refusal("MCP_TOOL_FAILED", "Nobody pays for a model.");
    const keeps: Pick<CallMemory, "record" | "recorded"> = {
      record: (turn, value) => record(`${key}/${name}/${turn}`, value),
      recorded: (turn) => recorded(`${key}/${name}/${turn}`),
    };
    const outcome = await generate({ ...request, takesCut: true, keeps }, signal, payer.step);
    const { model, input_tokens: input = 0, output_tokens: output = 0 } = outcome.usage ?? {};
    payer.paid({ costMicro: outcome.costMicro, usage: { input: Number(input), output: Number(output) } });
    if (outcome.status === "failed") throw toFailure(outcome, asker);
    const event = { type: "sampling", server: asker.server, tool: asker.tool, ...outcome.usage };
    payer.step.emit({ type: "log", event });
    const text = String(asObject(outcome.output)["completion"]);
    return { role: "assistant", content: { type: "text", text }, model: String(model) };
  }
}

type Request = Pick<Parameters<Generate>[0], "prompt" | "parameters">;

/** Texts alone, without their server's secrets, and nothing beside what it sends. A text says why it is not done. */
function readRequest(params: Json | undefined, mostTokens: number, { redactor }: Asker): Request | string {
  const flaw = findSpecFlaw("CreateMessageRequestParams", params ?? null);
  if (flaw !== undefined || !isJsonObject(params)) return flaw ?? "it is no object";
  const { messages, systemPrompt, maxTokens, temperature = null, stopSequences: stop = null, tools } = params;
  const said = (Array.isArray(messages) ? messages : []).map(asObject).map(({ role, content = null }) => ({
    role: role === "assistant" ? ("assistant" as const) : ("user" as const),
    parts: (Array.isArray(content) ? content : [content]).map(asObject),
  }));
  const isText = said.every(({ parts }) => parts.every(({ type }) => type === "text"));
  if (tools !== undefined || !isText) return "a model is given texts alone, and no tools";
  const prompt = said.map(({ role, parts }) => ({
    role,
    text: redactor.text(parts.map(({ text }) => String(text)).join("\n")),
  }));
  const system = typeof systemPrompt === "string" ? redactor.text(systemPrompt) : null;
  const parameters = { max_tokens: Math.min(Number(maxTokens), mostTokens), temperature, stop, system };
  const length = writeExact([prompt, parameters]).length;
  return length > MAX_CHARS ? `it has more than ${MAX_CHARS} characters` : { prompt, parameters };
}

/** The tool may have acted, and what is on record holds for who goes on. */
function toFailure({ code, message, ...facts }: Failed, { server, tool }: Asker): McpFailure {
  const why = `The MCP server "${server}" wanted a model's answer for its tool \`${tool}\`. ${message}`;
  const known = isErrorCode(code) ? code : "MCP_TOOL_FAILED";
  return new McpFailure(known, { ...facts, message: why, effect: "unknown", costMicro: 0 });
}
