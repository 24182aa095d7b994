import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Application } from "../application/application.ts";
import { type PreparedRepetition, prepareRepetition, type RepetitionRequest } from "./prepare-repetition.ts";

/** A rerun that does something differently: see `readForkChanges`. Where no step is named and one is changed, from there. */
export function prepareFork(
  app: Application,
  { changes, ...request }: RepetitionRequest & { readonly changes: JsonObject },
): Promise<PreparedRepetition> {
  if (Object.keys(changes).length === 0) {
    throw new PawlError("CHANGE_INVALID", {
      message: "A fork changes something, and `changes` is empty.",
      remedy: "Say what is to be different, or use a rerun.",
    });
  }
  const { steps } = changes;
  const changed = isJsonObject(steps) ? Object.keys(steps) : [];
  const [only] = changed;
  const from = request.fromStep ?? (changed.length === 1 ? only : undefined);
  return prepareRepetition(app, { ...request, fromStep: from }, changes);
}
