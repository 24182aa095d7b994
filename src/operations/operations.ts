import type { Operation } from "./operation.ts";
import * as schedules from "./schedules/schedules.ts";

/** Every operation by its id, in the order of the documents. */
export const OPERATIONS = { ...schedules };

/** The same for who needs no types of their own. */
export const ALL_OPERATIONS: readonly Operation[] = Object.values(OPERATIONS);
