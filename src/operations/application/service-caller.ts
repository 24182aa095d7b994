import type { KeyScope } from "../../ports/service/api-keys.ts";
import type { Application } from "./application.ts";

/** A caller of the service, by whatever protocol. */
export interface ServiceCaller {
  /** Tells callers apart; no secret. */
  readonly id: string;
  /** The application as the caller may see it. */
  readonly app: Application;
  /** An operator has said that what this caller tells of who asks is believed. */
  readonly tellsContext: boolean;
  may(scope: KeyScope): boolean;
}

/** The caller of a process that serves nobody else. */
export function soleCaller(app: Application): ServiceCaller {
  return { id: "", app, tellsContext: false, may: () => true };
}
