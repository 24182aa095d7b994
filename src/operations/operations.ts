import type { Operation } from "./operation.ts";
import * as schedules from "./schedules/schedules.ts";

/** Every operation, topic by topic, in the order of the documents. */
export const ALL_OPERATIONS: readonly Operation[] = [schedules].flatMap((topic): Operation[] => Object.values(topic));
