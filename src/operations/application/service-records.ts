import type { ApiKeys } from "../../ports/service/api-keys.ts";
import type { Budgets } from "../../ports/service/budgets.ts";
import type { DeadLetterNotes } from "../../ports/service/dead-letter-notes.ts";
import type { Deliveries } from "../../ports/service/deliveries.ts";
import type { IdempotencyKeys } from "../../ports/service/idempotency-keys.ts";
import type { Schedules } from "../../ports/service/schedules.ts";
import type { WorkflowDefinitions } from "../../ports/service/workflow-definitions.ts";

/** The records of the service beside runs. */
export interface ServiceRecords {
  readonly keys: ApiKeys;
  readonly idempotency: IdempotencyKeys;
  readonly definitions: WorkflowDefinitions;
  readonly deadLetters: DeadLetterNotes;
  readonly deliveries: Deliveries;
  readonly schedules: Schedules;
  readonly budgets: Budgets;
}
