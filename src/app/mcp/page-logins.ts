import { PawlError } from "../../core/errors/pawl-error.ts";
import type { BegunLogin } from "../../executors/mcp-servers/login/begin-login.ts";
import type { PageLogins } from "../../operations/application/ports.ts";
import type { Clock } from "../../ports/clock.ts";

interface Begun {
  readonly name: string;
  readonly by: string | undefined;
  readonly endsAt: number;
  readonly login: BegunLogin;
}

/** A person is waited for. */
export const PATIENCE_MS = 5 * 60_000;
/** Of more, the oldest is forgotten. */
const MOST = 100;

/** Logins that are under way. They are in memory: the answer has to come to the process that began, from the one who began. */
export function createPageLogins(
  begin: (server: string, redirectUrl: string) => Promise<BegunLogin>,
  clock: Pick<Clock, "now">,
): PageLogins {
  let begun: readonly Begun[] = [];
  return {
    async begin(name, { redirectUrl, by }) {
      const login = await begin(name, redirectUrl);
      begun = [...begun, { name, by, endsAt: clock.now() + PATIENCE_MS, login }].slice(-MOST);
      return login.address.href;
    },
    async finish(query, by) {
      const now = clock.now();
      const found = begun.find((each) => each.by === by && each.endsAt > now && each.login.isAnswered(query));
      if (found === undefined)
        throw new PawlError("MCP_LOGIN_FAILED", {
          message: "This is no answer to a login that was begun here, with this key, within the last five minutes.",
          remedy: "Begin it again.",
        });
      // A code is good for one use.
      begun = begun.filter((each) => each !== found);
      return { name: found.name, scope: await found.login.finish(query) };
    },
  };
}
