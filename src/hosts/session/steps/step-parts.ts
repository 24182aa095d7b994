import type { Instance } from "../../../core/history/run-state.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Grant } from "../../../core/trust/grant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { PublishedEvents } from "../../../ports/service/published-events.ts";
import type { CompiledDefinition } from "../../compiled-definition.ts";
import type { LiveRun } from "../live-run.ts";
import type { SecretLeaf } from "../secrets/secret-leaves.ts";
import type { TextTools } from "../values/project-output.ts";
import type { ValueWriter } from "../values/stored-value.ts";

/** Given by the host to the steps that the engine does itself. */
export interface StepParts {
  readonly clock: Clock;
  readonly writer: ValueWriter;
  readonly tools: TextTools;
  readonly resolveCall: ResolveCall;
  publishedEvents?(): Promise<AwaitedEvents>;
  /** Masks the secrets for as long as the run goes on. Returns them as they may be stored; undefined: they cannot be. */
  keepSecrets(run: LiveRun, leaves: readonly SecretLeaf[]): string | undefined;
  /** A question has just been applied: what must be in the same commit is added now. */
  asked(run: LiveRun, instance: Instance, seq: number): void;
  /** A defect: the run cannot go on in this process. */
  broken(run: LiveRun, error: unknown): void;
}

/** As a step that waits needs them. */
export type AwaitedEvents = Pick<PublishedEvents, "register" | "unregister" | "giveBack" | "settle">;

/** Finds the workflow that a step calls and checks its input. Throws `WORKFLOW_NOT_FOUND`, `DEFINITION_INVALID`, `INPUT_INVALID`. */
export type ResolveCall = (call: {
  readonly workflow: Json;
  readonly input: Json;
  /**
   * Of a terminal workflow's call: its limits, and that it names registered workflows only. Of a call in a sequence of
   * agents: that the input is a message, to be put in whichever form the called workflow takes.
   */
  readonly terms?: Json;
  /** Those of the calling run. */
  readonly options: JsonObject;
  /** That of the definition that calls. */
  readonly grant: Grant;
  /** The tenant of the calling run. */
  readonly tenantId?: string | undefined;
  /** The name comes from an input or an output, and not from the author of the workflow. */
  readonly isComputed: boolean;
}) => Promise<{
  readonly definition: CompiledDefinition;
  readonly input: JsonObject;
  /** How long the called run may take. */
  readonly timeoutMs?: number;
}>;
