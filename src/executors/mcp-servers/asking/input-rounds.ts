import type { InputRequiredResult, InputResponses } from "@modelcontextprotocol/client";
import { asObject, type JsonObject } from "../../../core/json.ts";
import type { CallMemory } from "../../../ports/tools/agent-toolbox.ts";
import { McpFailure } from "../mcp-failure.ts";
import { AsksPerson } from "./asking-calls.ts";
import type { Sampler } from "./sampler.ts";
import { type Asker, readQuestion, toElicitResult } from "./server-question.ts";

/** What goes with a call that is made again, now that its server's questions are answered. */
export interface Answered {
  readonly inputResponses: InputResponses;
  readonly requestState?: string;
}

const MAX_ROUNDS = 10;
/** Of one round. */
const MAX_REQUESTS = 20;

/** The call rests at a round of questions that is on record: nothing of it is under way anywhere. */
export async function restsAtRound(memory: CallMemory): Promise<boolean> {
  const last = await findLast(memory);
  return last > 0 && (await memory.recorded(`${memory.key}/round-${last}/sent`)) === undefined;
}

async function findLast({ key, recorded }: CallMemory): Promise<number> {
  for (let round = MAX_ROUNDS; round > 0; round -= 1)
    if ((await recorded(`${key}/round-${round}`)) !== undefined) return round;
  return 0;
}

interface RoundsParts {
  readonly asker: Asker;
  /** Absent: nobody can be asked. */
  readonly memory: CallMemory | undefined;
  readonly roots: readonly JsonObject[];
  /** False: its entry says that no person is asked. */
  readonly elicits: boolean;
  /** Absent: no model is asked for it. */
  readonly sampler: Sampler | undefined;
}

/** The rounds of one call of the revision 2026-07-28, whose server answers with what it needs first. Each is on record before it is answered. */
export class InputRounds {
  readonly #parts: RoundsParts;
  #round = 0;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
  }

  /** What an earlier attempt was told, with its answers. Undefined: nothing. Throws `AsksPerson`. */
  async resume(): Promise<Answered | undefined> {
    const { memory } = this.#parts;
    if (memory === undefined) return undefined;
    this.#round = await findLast(memory);
    const known = await memory.recorded(`${memory.key}/round-${this.#round}`);
    return known === undefined ? undefined : await this.#answerAll(asObject(known));
  }

  /** Throws `AsksPerson`, and an `McpFailure` where something is asked that nobody offers. */
  async answer({ inputRequests = {}, requestState }: InputRequiredResult): Promise<Answered> {
    const { memory, asker } = this.#parts;
    this.#round += 1;
    if (this.#round > MAX_ROUNDS) throw refuse(asker, `still wants something after ${MAX_ROUNDS} rounds of questions`);
    if (Object.keys(inputRequests).length > MAX_REQUESTS) throw refuse(asker, `wants more than ${MAX_REQUESTS} things`);
    // It came as JSON, so it is JSON.
    const asked = { inputRequests, ...(requestState === undefined ? {} : { requestState }) } as unknown as JsonObject;
    const needsPerson = Object.values(inputRequests).some(({ method }) => method !== "roots/list");
    if (needsPerson) await memory?.record(`${memory.key}/round-${this.#round}`, asked);
    return await this.#answerAll(asked);
  }

  async #answerAll({ inputRequests, requestState }: JsonObject): Promise<Answered> {
    const { memory } = this.#parts;
    const responses: InputResponses = {};
    for (const [name, asked] of Object.entries(asObject(inputRequests)))
      responses[name] = await this.#answerOne(name, asObject(asked));
    if (memory !== undefined) await memory.record(`${memory.key}/round-${this.#round}/sent`, true);
    return { inputResponses: responses, ...(typeof requestState === "string" ? { requestState } : {}) };
  }

  async #answerOne(name: string, { method, params }: JsonObject): Promise<InputResponses[string]> {
    const { asker, memory, roots, elicits, sampler } = this.#parts;
    if (method === "roots/list" && roots.length > 0) return { roots: roots.map((root) => ({ uri: "", ...root })) };
    if (method === "sampling/createMessage" && sampler !== undefined) {
      const answer = await sampler.answer(params);
      if (typeof answer === "string") throw refuse(asker, `asks what no model is asked: ${answer}`);
      return answer;
    }
    if (method !== "elicitation/create" || !elicits || memory === undefined)
      throw refuse(asker, `wants ${String(method).slice(0, 100)}, which is not offered`);
    const question = readQuestion(params, asker);
    if (typeof question === "string") throw refuse(asker, `asks what nobody can be asked: ${question}`);
    const key = `${memory.key}/round-${this.#round}/${encodeURIComponent(name).slice(0, 100)}`;
    const answer = toElicitResult(await memory.recorded(key), question);
    if (answer === undefined) throw new AsksPerson({ key, ...question });
    return answer;
  }
}

function refuse({ server, tool, redactor }: Asker, why: string): McpFailure {
  const message = redactor.text(`The MCP server "${server}" ${why}, for its tool \`${tool}\`.`);
  return new McpFailure("MCP_RESULT_INVALID", { message, retryable: false, effect: "unknown" });
}
