import { isErrorCode } from "../../../core/errors/error-table.ts";
import { remedyOf } from "../../../core/graph/dialects.ts";
import { outsideOfSides } from "../../../core/graph/step-path.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { nameInRemedy } from "../../name-in-remedy.ts";
import { shellWord } from "../../shell-word.ts";
import type { ErrorDescription } from "../run-schemas.ts";

export interface ErrorPlace {
  readonly run: Pick<RunRecord, "id" | "dialect">;
  /** The step that failed. Absent: the run as a whole, or nobody knows. */
  readonly path?: string | undefined;
}

interface Failure {
  readonly code: string;
  readonly message?: string | undefined;
}

/** The remedy names the run and the step, so that it can be typed as it is. */
export function describeError({ code, message = code }: Failure, { run, path }: ErrorPlace): ErrorDescription {
  const remedy = remedyOf(isErrorCode(code) ? code : "AGENT_FAILED", run.dialect);
  const named = nameInRemedy(remedy, { topic: "runs", id: run.id, step: path });
  // All of the run's logs.
  return { code, message, remedy: path === undefined ? named.replace(/ STEP\b/, "") : named };
}

/** The error of a run that has ended: its remedy also says how to go on from there. */
export function describeEnd(failure: Failure, place: ErrorPlace): ErrorDescription {
  const described = describeError(failure, place);
  if (described.remedy.includes("`pawl runs rerun ")) return described;
  const from = place.path === undefined ? "" : ` --from ${shellWord(outsideOfSides(place.path))}`;
  return {
    ...described,
    remedy: `${described.remedy} Go on from there with \`pawl runs rerun ${place.run.id}${from}\`.`,
  };
}

/** The error of a run that goes on: why steps of it are held. */
export function describeHold(failure: Failure, { run }: ErrorPlace): ErrorDescription {
  return { ...describeError(failure, { run }), remedy: `Look at its work, then: pawl runs resume ${run.id}` };
}
