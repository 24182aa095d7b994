import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Conversations, Exchange, Session } from "../../../ports/conversations.ts";
import type { Task } from "../../../ports/executor.ts";
import type { AgentRequest } from "./agent-request.ts";

/** The history that an agent gets: more would cost more than it helps. */
const LIMITS = { exchanges: 20, chars: 100_000 } as const;

/** The session whose history the agent gets. Undefined: none. */
function sessionOf({ name, sessionId }: AgentRequest): Session | undefined {
  return sessionId === undefined ? undefined : { agent: name, id: sessionId };
}

interface Remembering {
  readonly request: AgentRequest;
  readonly task: Task;
  conversations(): Promise<Conversations>;
}

/**
 * The exchanges before this one. They are on record before the model is asked: whoever goes on after a crash knows what the
 * first attempt knew, whatever other runs of the session have said since.
 */
export async function recallHistory({ request, task, conversations }: Remembering): Promise<readonly Exchange[]> {
  const session = sessionOf(request);
  if (session === undefined) return [];
  const known = await task.recorded("history");
  if (known !== undefined) return readExchanges(known);
  const history = await (await conversations()).read(session, LIMITS);
  await task.record(
    "history",
    history.map(({ user, agent }) => ({ user, agent })),
  );
  return history;
}

/** Keeps this exchange for the next run of the session, once, however often its step is done. */
export async function keepExchange(
  text: string | undefined,
  { request, task, conversations }: Remembering,
): Promise<void> {
  const session = sessionOf(request);
  if (session === undefined || text === undefined || text === "") return;
  const exchange = { user: request.message, agent: text, key: task.idempotencyKey, at: Date.now() };
  await (await conversations()).append(session, exchange);
}

function readExchanges(record: Json): readonly Exchange[] {
  const entries: readonly Json[] = Array.isArray(record) ? record : [];
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    return [{ user: String(entry["user"]), agent: String(entry["agent"]) }];
  });
}
