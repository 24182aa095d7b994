import { describeApiKeysContract } from "./api-keys.contract.ts";
import { describeBudgetsContract } from "./budgets.contract.ts";
import { describeConversationsContract } from "./conversations.contract.ts";
import { describeDeadLetterNotesContract } from "./dead-letter-notes.contract.ts";
import { describeDeliveriesContract } from "./deliveries.contract.ts";
import { describeEventKillsContract } from "./event-kills.contract.ts";
import { describeIdempotencyKeysContract } from "./idempotency-keys.contract.ts";
import { describePublishedEventsContract } from "./published-events.contract.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";
import { describeSchedulesContract } from "./schedules.contract.ts";
import { describeServerLoginsContract } from "./server-logins.contract.ts";
import { describeStartRatesContract } from "./start-rates.contract.ts";
import { describeWorkflowDefinitionsContract } from "./workflow-definitions.contract.ts";

/** What all records promise. */
export function describeRecordsContract(records: RecordsUnderTest): void {
  describeApiKeysContract(records);
  describeBudgetsContract(records);
  describeConversationsContract(records);
  describeDeadLetterNotesContract(records);
  describeDeliveriesContract(records);
  describeIdempotencyKeysContract(records);
  describePublishedEventsContract(records);
  describeEventKillsContract(records);
  describeSchedulesContract(records);
  describeStartRatesContract(records);
  describeServerLoginsContract(records);
  describeWorkflowDefinitionsContract(records);
}
