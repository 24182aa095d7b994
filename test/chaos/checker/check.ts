import { checkEffects } from "./checks/effects.ts";
import { checkEnds, checkJournals, checkNoOthers } from "./checks/runs.ts";
import { checkBudget, checkRequests, checkSchedules, checkUndisturbed, checkWebhooks } from "./checks/service.ts";
import { checkAttended, checkTakeOvers } from "./checks/take-over.ts";
import type { Check, Observation, Violation } from "./observation.ts";

const CHECKS: readonly Check[] = [
  checkEnds,
  checkNoOthers,
  checkJournals,
  checkEffects,
  checkWebhooks,
  checkSchedules,
  checkBudget,
  checkRequests,
  checkTakeOvers,
  checkAttended,
  checkUndisturbed,
];

/** Everything that must not be, of what was seen. */
export function check(seen: Observation): readonly Violation[] {
  return CHECKS.flatMap((one) => one(seen));
}
