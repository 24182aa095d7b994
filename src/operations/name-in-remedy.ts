import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import { shellWord } from "./shell-word.ts";

/** Puts real ids in the places of `ID` and `STEP` in a remedy's commands about a topic, so that they can be typed as they are. */
export function nameInRemedy(
  remedy: string,
  { topic, id, step }: { readonly topic: string; readonly id: string; readonly step?: string | undefined },
): string {
  const addressed = remedy.replaceAll(`/${topic}/ID`, () => `/${topic}/${id}`);
  return addressed.replace(/`pawl (\w[\w-]*) [^`]+`/g, (command, about: string) => {
    if (about !== topic) return command;
    const named = command.replace(/ (ID|RUN)\b/, () => ` ${shellWord(id)}`);
    return step === undefined ? named : named.replace(/ STEP\b/, () => ` ${shellWord(step)}`);
  });
}

/** The error of an operation about one thing, with its id in the remedy. */
export function withNames(error: unknown, names: Parameters<typeof nameInRemedy>[1]): unknown {
  if (!isPawlError(error)) return error;
  const remedy = nameInRemedy(error.remedy, names);
  if (remedy === error.remedy) return error;
  const { code, message, details } = error;
  return new PawlError(code, { message, remedy, cause: error.cause, ...(details === undefined ? {} : { details }) });
}
