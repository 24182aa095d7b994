import { PawlError } from "../errors/pawl-error.ts";
import { parseExact, writeExact } from "../exact-json.ts";
import type { Json } from "../json.ts";
import type { Event, EventType, StepStarted, StepSucceeded } from "./events.ts";

/**
 * An event as a journal keeps it: what is searched and summed in columns of its own, the rest as JSON.
 * `body` is null when nothing remains, so that most rows of a long history are read without parsing anything.
 */
export interface StoredEvent {
  readonly type: string;
  readonly path: string | null;
  readonly attempt: number | null;
  readonly at: number;
  readonly costMicro: number | null;
  readonly body: string | null;
}

/** Every type that this version knows. */
const TYPES: Readonly<Record<EventType, true>> = {
  runStarted: true,
  runHeld: true,
  runResumed: true,
  placeTaken: true,
  stepStarted: true,
  stepSucceeded: true,
  stepFailed: true,
  stepProjected: true,
  stepInterrupted: true,
  stepRecorded: true,
  stepLogged: true,
  costReserved: true,
  costReported: true,
  callResolved: true,
  waitBegun: true,
  approvalAsked: true,
  approvalAnswered: true,
  approvalCounted: true,
  timerFired: true,
  signalReceived: true,
  cancelRequested: true,
  budgetExhausted: true,
  stepHeld: true,
  limitRaised: true,
  limitNeared: true,
  runFinished: true,
};

export function encodeEvent(event: Event): StoredEvent {
  if (event.type === "stepSucceeded") return encodeStepSucceeded(event);
  if (event.type === "stepStarted") return encodeStepStarted(event);
  return encodeAny(event);
}

/**
 * Throws `JOURNAL_NEWER` for an event that this version does not know, also one of a known type whose `v` says that a later version
 * has changed it, and a `SyntaxError` where `body` is no JSON.
 */
export function decodeEvent(stored: StoredEvent): Event {
  const { type, body } = stored;
  if (!Object.hasOwn(TYPES, type)) throw newerEvent(type);
  const event = columnsOf(stored);
  if (body !== null) Object.assign(event, parseExact(body));
  if (event["v"] !== undefined) throw newerEvent(`${type} in version ${event["v"]}`);
  return event as unknown as Event;
}

// The two types that make up most of a history are written out: no loop over keys, and often no JSON at all.
// `satisfies` makes a field that is added to the event and forgotten here a compile error.

type InColumns = "type" | "path" | "attempt" | "at" | "costMicro";
type InBody<E extends Event> = Record<Exclude<keyof E, InColumns>, unknown>;

function encodeStepStarted(event: StepStarted): StoredEvent {
  const { type, path, attempt, at, startedAt, flight, decided, bytes } = event;
  const rest = { startedAt, flight, decided, bytes } satisfies InBody<StepStarted>;
  const isPlain = (startedAt ?? flight ?? decided ?? bytes) === undefined;
  return { type, path, attempt, at, costMicro: null, body: isPlain ? null : toBody(rest) };
}

function encodeStepSucceeded(event: StepSucceeded): StoredEvent {
  const { type, path, attempt, at, costMicro } = event;
  const { startedAt, waitedMs, inputHash, empty, unpriced, usage, repaired } = event;
  const { projected, assigned, reused, policies, missing, decided, bytes } = event;
  const rest = {
    startedAt,
    waitedMs,
    inputHash,
    empty,
    unpriced,
    usage,
    repaired,
    projected,
    assigned,
    reused,
    policies,
    missing,
    decided,
    bytes,
  };
  rest satisfies InBody<StepSucceeded>;
  const body = isPlain(event) ? toPlainBody(event) : toBody(rest);
  return { type, path, attempt, at, costMicro: costMicro ?? null, body };
}

/** Most outcomes have no more than this, and then half of what encoding costs can be left out. */
function isPlain(event: StepSucceeded): boolean {
  const { waitedMs, empty, unpriced, usage, repaired } = event;
  const { projected, assigned, reused, policies, missing, decided, bytes } = event;
  const more = waitedMs ?? empty ?? unpriced ?? usage ?? repaired;
  return (more ?? projected ?? assigned ?? reused ?? policies ?? missing ?? decided ?? bytes) === undefined;
}

/** Equal to the result of `toBody`. */
function toPlainBody({ startedAt, inputHash }: StepSucceeded): string | null {
  if (startedAt === undefined || inputHash === undefined) return toBody({ startedAt, inputHash });
  return `{"startedAt":${startedAt},"inputHash":${writeExact(inputHash)}}`;
}

type AnyEvent = Pick<Event, "type" | "at"> & {
  readonly path?: string;
  readonly attempt?: number | undefined;
  readonly costMicro?: number;
};

function encodeAny(event: Event): StoredEvent {
  const { type, path, attempt, at, costMicro, ...rest }: AnyEvent = event;
  const columns = { path: path ?? null, attempt: attempt ?? null, costMicro: costMicro ?? null };
  return { type, at, ...columns, body: toBody(rest) };
}

function toBody(rest: object): string | null {
  const body = writeExact(rest);
  return body === "{}" ? null : body;
}

function columnsOf({ type, path, attempt, at, costMicro }: StoredEvent): { [name: string]: Json } {
  const event: { [name: string]: Json } = { type, at };
  if (path !== null) event["path"] = path;
  if (attempt !== null) event["attempt"] = attempt;
  if (costMicro !== null) event["costMicro"] = costMicro;
  return event;
}

function newerEvent(what: string): PawlError {
  return new PawlError("JOURNAL_NEWER", { message: `The journal holds an event that is not known here: ${what}.` });
}
