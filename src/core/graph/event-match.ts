import { writeExact } from "../exact-json.ts";
import type { Expr } from "../expressions/expr.ts";
import type { SentKey } from "../history/events.ts";
import { isJsonObject, isNumber, type Json } from "../json.ts";
import type { Flow, Wait } from "./graph.ts";
import { stepsWithin } from "./steps-within.ts";

/** How many fields of its payload an event is known by, and how long they are as JSON. */
export const MOST_FIELDS = 8;
const MOST_CHARACTERS = 800;

/** Whether a text is the path of a field that an event may be known by, such as `order.id`. */
export function isEventField(path: string): boolean {
  return /^[A-Za-z_][\w-]{0,99}(\.[A-Za-z_][\w-]{0,99}){0,9}$/.test(path);
}

/** What a wait says; first for how long, until when, or for which event. */
export function exprsOfWait(wait: Wait): readonly [Expr, ...Expr[]] {
  if (wait.for === "duration") return [wait.durationMs];
  return wait.for === "instant" ? [wait.at] : [wait.name, ...Object.values(wait.match ?? {})];
}

/** By which of its fields steps know an event. */
export interface AwaitedEvent {
  readonly event: string;
  /** Of the payload, in order. */
  readonly fields: readonly string[];
}

/** The events that a flow waits for without knowing from where they come. */
export function awaitedEvents(flow: Flow): readonly AwaitedEvent[] {
  return stepsWithin(flow).flatMap((step) => {
    if (step.kind !== "wait" || step.wait.for !== "event") return [];
    const { name, match } = step.wait;
    if (match === undefined || name.op !== "literal") return [];
    return [{ event: String(name.value), fields: Object.keys(match).toSorted() }];
  });
}

/**
 * What an event is found by: its fields with their values as one JSON text, which is equal for equal values. Undefined: a field is
 * missing, is no text, number or boolean, or they are too long.
 */
export function eventKey(fields: readonly string[], read: (field: string) => Json | undefined): string | undefined {
  const values = fields.map((field): readonly [string, Json | undefined] => [field, read(field)]);
  const isPlain = values.every(
    ([, value]) => isNumber(value) || typeof value === "string" || typeof value === "boolean",
  );
  const key = isPlain ? writeExact(Object.fromEntries(values)) : "";
  return key === "" || key.length > MOST_CHARACTERS ? undefined : key;
}

/** The value at a path such as `order.id`. */
export function fieldOf(payload: Json, path: string): Json | undefined {
  let found: Json | undefined = payload;
  for (const name of path.split(".")) {
    if (found === undefined || !isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** The name under which a run waits for an event with this key: no other signal has it. */
export function matchedSignal(event: string, key: string): string {
  return `${event} ${key}`;
}

/** An event is received by a run once, however often it is sent. */
export function toSentKey(eventId: string): SentKey {
  return { key: `event ${eventId}`, hash: eventId };
}

export function eventOfSignal(signal: string): string {
  const end = signal.indexOf(" {");
  return end < 0 ? signal : signal.slice(0, end);
}
