import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { reachOf } from "../../../core/trust/grant.ts";
import type { Driving, Principal } from "../../../operations/application/ports.ts";
import { TERMINAL_TOOLS } from "../../../ports/terminals/terminal-tools.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import type { PerformedCall } from "../add-tools.ts";

const DEFAULT_WAIT_SECONDS = 10;

/** The tools over terminals, in the order in which they are listed. Callers have the sessions of their application or tenant. */
export const SESSION_TOOLS = Object.values(TERMINAL_TOOLS).map((offered: OfferedTool) => ({
  offered,
  /** The owner of the terminals reads the arguments. */
  async perform(
    { app }: { readonly app: Principal & Driving },
    args: JsonObject,
    call: PerformedCall,
  ): Promise<JsonObject> {
    const { name } = offered;
    if (name === "await_output" || name === "run_command") tellWait(args, call);
    const asked = { tool: name, request: args, reach: reachOf(app.grant) };
    const result = await (await app.host()).callTerminal(asked, call.signal);
    return isJsonObject(result) ? result : {};
  },
}));

function tellWait({ timeout }: JsonObject, call: PerformedCall): void {
  const startedAt = performance.now();
  const total = typeof timeout === "number" ? timeout : DEFAULT_WAIT_SECONDS;
  call.follow(() => {
    const done = Math.round((performance.now() - startedAt) / 1_000);
    return { done, total, message: `Waiting for output: ${done} of ${total} s` };
  });
}
