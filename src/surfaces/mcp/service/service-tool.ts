import type { JsonObject } from "../../../core/json.ts";
import type { Capability } from "../../../core/trust/grant.ts";
import type { Ports } from "../../../operations/application/ports.ts";
import type { Submissions } from "../../../operations/start/submit-run.ts";
import type { KeyScope } from "../../../ports/service/api-keys.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import type { PerformedCall } from "../add-tools.ts";
import type { Question } from "../question.ts";

/** The parts that a call may use until it has ended. */
export interface LentParts {
  readonly app: Ports;
  readonly submissions: Submissions;
}

export interface ServiceCall extends PerformedCall {
  readonly submissions: Submissions;
  /** The server is about to end: waiting callers are answered now. */
  readonly stopping: AbortSignal;
}

/** A tool of `pawl mcp`: what a client is told of it, and what it does, mostly an operation. */
export interface ServiceTool {
  readonly offered: OfferedTool;
  readonly scope: KeyScope;
  /** The set that it is listed with: the topic of the operation. */
  readonly set: string;
  /** Listed only where its set is asked for. */
  readonly isRare: boolean;
  /** What the caller must have been granted. Absent: nothing. */
  readonly needs?: Capability;
  /** Throws `REQUEST_INVALID` with every argument that does not fit, before anything is done; then what the operation throws. */
  perform(app: Ports, args: JsonObject, call: ServiceCall): Promise<JsonObject | Question>;
}
