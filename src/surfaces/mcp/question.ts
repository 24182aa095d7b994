import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { JsonObject } from "../../core/json.ts";

interface QuestionParts {
  /** Under which the answer comes back. */
  readonly key: string;
  readonly message: string;
  /** A flat form, as the protocol allows it. */
  readonly schema: JsonObject;
  /** Comes back with the answer. */
  readonly state?: string;
}

/** What the person at a client is to be asked, in place of an answer to a call. The call comes again with what they say. */
export class Question {
  readonly #parts: QuestionParts;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  toResult(): InputRequiredResult {
    const { key, message, schema, state } = this.#parts;
    // A form of the protocol: whoever asks has made it one.
    const requestedSchema = schema as Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];
    return inputRequired({
      inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) },
      ...(state === undefined ? {} : { requestState: state }),
    });
  }
}

/** How a client with a person before it is asked. */
export interface Asking {
  /** The state of the question whose answer this call is. */
  readonly state: string | undefined;
  /** Undefined: it was not asked. Null: the person did not answer. */
  answerTo(key: string): JsonObject | null | undefined;
}

/** Undefined: the client cannot be asked, or, of 2025 over HTTP, has no connection that lasts. */
export function toAsking(server: Server, { mcpReq }: ServerContext): Asking | undefined {
  // The type of the envelope names no key.
  const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
  const told = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const { elicitation } = told ?? server.getClientCapabilities() ?? {};
  const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  if (!hasForms) return undefined;
  return {
    state: mcpReq.requestState<string>(),
    answerTo(key) {
      const answer = inputResponse(mcpReq.inputResponses, key);
      if (answer.kind !== "elicit") return undefined;
      // It came as JSON, so it is JSON.
      return answer.action === "accept" ? ((answer.content ?? {}) as JsonObject) : null;
    },
  };
}
