import type { KeyScope } from "../../ports/service/api-keys.ts";
import type { Application } from "./application.ts";

/** Who asks the service for something, whatever it speaks. */
export interface ServiceCaller {
  /** Tells callers apart; no secret. */
  readonly id: string;
  /** The application as the caller may see it. */
  readonly app: Application;
  may(scope: KeyScope): boolean;
}

/** Of a process that belongs to whoever calls: there is nobody else. */
export function soleCaller(app: Application): ServiceCaller {
  return { id: "", app, may: () => true };
}
