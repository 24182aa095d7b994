import type { KeyScope } from "../../ports/service/api-keys.ts";
import type { Ports } from "./ports.ts";

export interface ServiceCaller {
  /** Tells callers apart; no secret. */
  readonly id: string;
  /** The application as the caller may see it. */
  readonly app: Ports;
  /** An operator has said that what this caller tells of who asks is believed. */
  readonly tellsContext: boolean;
  may(scope: KeyScope): boolean;
}

/** The caller of a process that serves nobody else. */
export function soleCaller(app: Ports): ServiceCaller {
  return { id: "", app, tellsContext: false, may: () => true };
}
