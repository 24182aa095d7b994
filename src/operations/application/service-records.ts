import type { ApiKeys } from "../../ports/api-keys.ts";
import type { Budgets } from "../../ports/budgets.ts";
import type { DeadLetterNotes } from "../../ports/dead-letter-notes.ts";
import type { Deliveries } from "../../ports/deliveries.ts";
import type { IdempotencyKeys } from "../../ports/idempotency-keys.ts";
import type { Schedules } from "../../ports/schedules.ts";
import type { WorkflowDefinitions } from "../../ports/workflow-definitions.ts";

/** What the service remembers beside runs. */
export interface ServiceRecords {
  readonly keys: ApiKeys;
  readonly idempotency: IdempotencyKeys;
  readonly definitions: WorkflowDefinitions;
  readonly deadLetters: DeadLetterNotes;
  readonly deliveries: Deliveries;
  readonly schedules: Schedules;
  readonly budgets: Budgets;
}
