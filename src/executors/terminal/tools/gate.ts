import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Reach } from "../../../core/trust/grant.ts";
import type { TerminalPolicy } from "../policy/terminal-policy.ts";

export interface ToolCall {
  readonly signal?: AbortSignal;
  /** By a workflow: it has limits of its own and does not count against the calls of a minute. */
  readonly isInternal?: boolean;
  /** The run that the session will belong to, for `exitOwned`. */
  readonly owner?: string;
  /** The step of that run that calls. */
  readonly stepPath?: string;
  /** Whose run that is: sessions of others do not exist for it. Absent: all are there. */
  readonly tenantId?: string | undefined;
  /** Addresses that a terminal in the sandbox reaches beside the public ones, from its opening on. */
  readonly reach?: Reach | undefined;
}

/** Lets calls through that the policy allows, and records every one before it does anything. */
export class Gate {
  readonly #policy: TerminalPolicy;
  readonly #auditLog: AuditLog | undefined;

  constructor(policy: TerminalPolicy, auditLog: AuditLog | undefined) {
    this.#policy = policy;
    this.#auditLog = auditLog;
  }

  /** Throws `TERMINAL_REFUSED` where the call, or what `check` looks at, is against a rule. */
  admit(call: ToolCall, facts: JsonObject & { readonly tool: string }, check: () => void = () => undefined): void {
    call.signal?.throwIfAborted();
    const entry = { time: new Date().toISOString(), caller: call.isInternal ? "workflow" : "client", ...facts };
    try {
      if (call.isInternal !== true) this.#policy.checkCall();
      check();
    } catch (error) {
      this.#auditLog?.append({ ...entry, outcome: "refused", ...ruleOf(error) });
      throw error;
    }
    this.#auditLog?.append({ ...entry, outcome: "allowed" });
  }
}

function ruleOf(error: unknown): JsonObject {
  return isPawlError(error) ? { code: error.code, details: error.details ?? null } : {};
}

interface AuditLog {
  append(entry: JsonObject): void;
}

/** One JSON line for each call, in order, with secrets masked. The file may be rotated. A call that cannot be recorded fails. */
export function createAuditLog(path: string, mask: (text: string) => string): AuditLog {
  mkdirSync(dirname(path), { recursive: true });
  return {
    append(entry) {
      appendFileSync(path, `${mask(writeExact(entry))}\n`, { mode: 0o600 });
    },
  };
}
