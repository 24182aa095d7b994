import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject, ownField } from "../../core/json.ts";

/** A request to an agent, or to a workflow of agents. */
export interface AgentsRequest {
  readonly message: string;
  /** The conversation that it belongs to. Agents with `include_history` remember it. */
  readonly sessionId?: string;
}

/** Under what name the message comes, by route. */
export type MessageField = "initial_user_message" | "user_message" | "initial_input";

const MAX_SESSION_ID_CHARS = 200;

/** Reads a request as it came; what it does not know is ignored. Throws `REQUEST_INVALID`. */
export function readAgentsRequest(body: Json, field: MessageField): AgentsRequest {
  if (!isJsonObject(body)) throw invalid(`The body must be an object with \`${field}\`.`);
  const message = ownField(body, field);
  if (typeof message !== "string") throw invalid(`\`${field}\` must be a text.`);
  const sessionId = ownField(body, "session_id") ?? undefined;
  if (sessionId === undefined) return { message };
  if (typeof sessionId === "string" && sessionId !== "" && sessionId.length <= MAX_SESSION_ID_CHARS)
    return { message, sessionId };
  throw invalid(`\`session_id\` must be a text of 1 to ${MAX_SESSION_ID_CHARS} characters.`);
}

/** Makes the input of a workflow of agents. */
export function toAgentsInput({ message, sessionId }: AgentsRequest): JsonObject {
  return { message, ...(sessionId === undefined ? {} : { session_id: sessionId }) };
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message, remedy: "Correct the request." });
}
