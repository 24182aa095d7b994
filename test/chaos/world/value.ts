import { hash } from "node:crypto";

/** What the world answers to a step. Nobody can know it who has not been told what the step was given. */
export function answerTo(label: string, step: string, given: string): string {
  return hash("sha256", `${label}|${step}|${given}`).slice(0, 16);
}

/** The content of a value that is large enough to be kept apart from the journal. */
export function largeAnswer(value: string): string {
  return value.repeat(LARGE_BYTES / value.length);
}

const LARGE_BYTES = 160_000;

/** What a step was given, as it counts for its answer: large texts by their hash, answers of other steps by their values. */
export function toGiven(given: unknown): string {
  if (Array.isArray(given)) return given.map(toGiven).join(",");
  if (typeof given === "object" && given !== null) {
    const { body, value } = given as { readonly body?: unknown; readonly value?: unknown };
    return toGiven(body ?? value ?? JSON.stringify(given));
  }
  const text = String(given);
  return text.length > 1_000 ? hash("sha256", text).slice(0, 16) : text;
}
