import type { Application } from "../application/application.ts";
import { type PreparedRepetition, prepareRepetition, type RepetitionRequest } from "./prepare-repetition.ts";

/**
 * Does a run again from a step: that step and what depends on it run again, and so does whatever had not succeeded; all else
 * is taken over. Where no step is named it begins at the first that failed, and of a run that has completed with everything.
 */
export function prepareRerun(app: Application, request: RepetitionRequest): Promise<PreparedRepetition> {
  return prepareRepetition(app, request);
}
