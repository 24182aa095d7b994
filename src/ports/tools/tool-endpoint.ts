import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../executor.ts";

/** Tools that are asked for with plain HTTP, as a UHLP request names them: `POST {tool, params, context}`. */
export interface ToolEndpoint {
  /** An endpoint is configured, for runs that name none. */
  readonly isConfigured: boolean;
  /** Never throws; `output` is the `data` of the answer. A failure may have the endpoint's own code. */
  call(call: EndpointCall, signal: AbortSignal): Promise<Outcome>;
  /** Throws `ENDPOINT_NOT_ALLOWED`, and `ENDPOINT_FAILED` with what the endpoint said. */
  readDefinitionFile(file: DefinitionFileRequest, signal: AbortSignal): Promise<DefinitionFile>;
}

export interface EndpointAddress {
  /** Refused with `ENDPOINT_NOT_ALLOWED` unless it is configured or on the list. Absent: the configured one. */
  readonly endpoint?: string | undefined;
  readonly context: EndpointContext;
}

interface EndpointContext {
  readonly appId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
}

export interface EndpointCall extends EndpointAddress {
  readonly tool: string;
  readonly params: JsonObject;
  /** The request, where the context names none. */
  readonly runId?: string;
  /** Equal for calls whose effect may be the same one. */
  readonly idempotencyKey?: string;
  /** The signal alone limits the time: a model may think longer than a tool. */
  readonly isTimedByCaller?: boolean;
}

export interface DefinitionFileRequest extends EndpointAddress {
  readonly filePath: string;
  readonly revision?: string | undefined;
}

export interface DefinitionFile {
  readonly content: string;
  readonly revision?: string;
}
