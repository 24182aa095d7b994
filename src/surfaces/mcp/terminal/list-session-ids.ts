import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Application } from "../../../operations/application/application.ts";

/** None where nobody owns the data directory: asking makes no owner. None too where the rules allow no call now. */
export async function listSessionIds(app: Application): Promise<readonly string[]> {
  if ((await app.findOwner()).state === "free") return [];
  try {
    const signal = new AbortController().signal;
    const listed: Json = await (await app.host()).callTerminal("list_terminal_sessions", {}, signal);
    const sessions = isJsonObject(listed) ? listed["sessions"] : undefined;
    if (!Array.isArray(sessions)) return [];
    return sessions.flatMap((session: Json) => {
      const id = isJsonObject(session) ? session["session_id"] : undefined;
      return typeof id === "string" ? [id] : [];
    });
  } catch (error) {
    if (isPawlError(error) && error.code === "TERMINAL_REFUSED") return [];
    throw error;
  }
}
