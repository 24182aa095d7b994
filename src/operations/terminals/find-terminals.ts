import { PawlError } from "../../core/errors/pawl-error.ts";
import type { TerminalSummary, TerminalViews } from "../../ports/terminals/terminal-views.ts";
import type { Driving, Principal } from "../application/ports.ts";
import { refuseTenant } from "../application/refuse-tenant.ts";

/**
 * The terminals of whoever owns the data directory, or those that have outlived their owner. Undefined: there are none. Nobody
 * becomes the owner for it, so that no run goes on because somebody looks.
 */
export async function findTerminals(app: Driving): Promise<TerminalViews | undefined> {
  const owner = await app.findOwner();
  return owner.state === "free" ? app.leftTerminals() : (await app.host()).terminals();
}

/** A person who looks at terminals sees those of all. Throws `FORBIDDEN` for a tenant. */
export function admitToTerminals(app: Pick<Principal, "tenantId">): void {
  refuseTenant(app, "The terminals belong to all tenants");
}

export interface FoundTerminal {
  readonly terminals: TerminalViews;
  readonly session: TerminalSummary;
}

/** One terminal by its id, or by enough of it, with or without `session_`. Throws `TERMINAL_NOT_FOUND`. */
export async function findTerminal(app: Driving, id: string): Promise<FoundTerminal> {
  const terminals = await findTerminals(app);
  const sessions = (await terminals?.list()) ?? [];
  const exact = sessions.filter(({ session_id }) => session_id === id);
  const found = exact.length > 0 ? exact : sessions.filter(({ session_id }) => isShortFor(id, session_id));
  const [session] = found;
  if (terminals !== undefined && session !== undefined && found.length === 1) return { terminals, session };
  if (found.length > 1) {
    const ids = found.map(({ session_id }) => session_id);
    throw new PawlError("TERMINAL_NOT_FOUND", {
      message: `"${id}" can be ${ids.join(", ")}.`,
      remedy: "Give more of the id.",
      details: ids,
    });
  }
  throw new PawlError("TERMINAL_NOT_FOUND", {
    message: sessions.length === 0 ? "No terminal is open." : `There is no terminal "${id}".`,
  });
}

function isShortFor(id: string, sessionId: string): boolean {
  return id !== "" && (sessionId.startsWith(id) || sessionId.startsWith(`session_${id}`));
}
