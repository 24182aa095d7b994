import { PawlError } from "../errors/pawl-error.ts";
import { parseExact, writeExact } from "../exact-json.ts";
import type { JsonObject } from "../json.ts";
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

/** Turns an event of one version into an event of the next. Pure: old histories must always read the same. */
export type Upcaster = (event: JsonObject) => JsonObject;

/**
 * Every event type with its upcasters, oldest first: a type with n of them is at version n + 1.
 * To change the shape of an event, append one here and keep the golden histories folding.
 */
const UPCASTERS: Readonly<Record<EventType, readonly Upcaster[]>> = {
  runStarted: [],
  runHeld: [],
  runResumed: [],
  stepStarted: [],
  stepSucceeded: [],
  stepFailed: [],
  stepProjected: [],
  stepInterrupted: [],
  stepRecorded: [],
  stepLogged: [],
  costReserved: [],
  costReported: [],
  callResolved: [],
  waitBegun: [],
  approvalAsked: [],
  approvalAnswered: [],
  timerFired: [],
  signalReceived: [],
  cancelRequested: [],
  budgetExhausted: [],
  stepHeld: [],
  limitRaised: [],
  limitNeared: [],
  runFinished: [],
};

export function encodeEvent(event: Event): StoredEvent {
  if (event.type === "stepSucceeded") return encodeStepSucceeded(event);
  if (event.type === "stepStarted") return encodeStepStarted(event);
  return encodeAny(event);
}

/** Throws `JOURNAL_NEWER` for an event that this version does not know, and a `SyntaxError` where `body` is no JSON. */
export function decodeEvent(stored: StoredEvent): Event {
  const { type, body } = stored;
  if (!isEventType(type)) throw newerEvent(type);
  const upcasters = UPCASTERS[type];
  const columns = columnsOf(stored);
  const event: VersionedEvent = body === null ? columns : Object.assign(columns, parseExact(body));
  const newest = event.v === undefined && upcasters.length === 0 ? event : upcast(event, upcasters);
  return newest as unknown as Event;
}

/** An event of any version; `v` is written from version 2 on. */
export type VersionedEvent = JsonObject & { readonly v?: number };

export function upcast(event: VersionedEvent, upcasters: readonly Upcaster[]): JsonObject {
  const { v: version = 1, ...oldest } = event;
  if (version > upcasters.length + 1) throw newerEvent(`${event["type"]} in version ${version}`);
  return upcasters.slice(version - 1).reduce<JsonObject>((older, toNext) => toNext(older), oldest);
}

// The two types that make up most of a history are written out: no loop over keys, and often no JSON at all.
// `satisfies` makes a field that is added to the event and forgotten here a compile error.

type InColumns = "type" | "path" | "attempt" | "at" | "costMicro";
type InBody<E extends Event> = Record<Exclude<keyof E, InColumns>, unknown>;

function encodeStepStarted(event: StepStarted): StoredEvent {
  const { type, path, attempt, at, startedAt, flight, decided, bytes } = event;
  const rest = { startedAt, flight, decided, bytes } satisfies InBody<StepStarted>;
  const isPlain = (startedAt ?? flight ?? decided ?? bytes) === undefined;
  return { type, path, attempt, at, costMicro: null, body: isPlain ? null : toBody(type, rest) };
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
  const body = isPlain(event) ? toPlainBody(event) : toBody(type, rest);
  return { type, path, attempt, at, costMicro: costMicro ?? null, body };
}

/** Most outcomes have no more than this, and then half of what encoding costs can be left out. */
function isPlain({
  waitedMs,
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
}: StepSucceeded): boolean {
  const more = waitedMs ?? empty ?? unpriced ?? usage ?? repaired;
  return (
    (more ?? projected ?? assigned ?? reused ?? policies ?? missing ?? decided ?? bytes) === undefined &&
    UPCASTERS.stepSucceeded.length === 0
  );
}

/** Equal to the result of `toBody`. */
function toPlainBody({ startedAt, inputHash }: StepSucceeded): string | null {
  if (startedAt === undefined || inputHash === undefined) return toBody("stepSucceeded", { startedAt, inputHash });
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
  return { type, at, ...columns, body: toBody(type, rest) };
}

function toBody(type: EventType, rest: object): string | null {
  const version = UPCASTERS[type].length + 1;
  const body = writeExact(version > 1 ? { ...rest, v: version } : rest);
  return body === "{}" ? null : body;
}

function columnsOf({ type, path, attempt, at, costMicro }: StoredEvent): JsonObject {
  const event: { [column: string]: string | number } = { type, at };
  if (path !== null) event["path"] = path;
  if (attempt !== null) event["attempt"] = attempt;
  if (costMicro !== null) event["costMicro"] = costMicro;
  return event;
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(UPCASTERS, type);
}

function newerEvent(what: string): PawlError {
  return new PawlError("JOURNAL_NEWER", { message: `The journal holds an event that is not known here: ${what}.` });
}
