import type { JsonObject } from "../../core/json.ts";

/**
 * Events that are for whichever run waits for them, and the steps that wait. Each side writes its own row before it looks for the
 * other's, so that nothing falls between; an event is claimed for one wait. What a call has done is durable when it resolves.
 */
export interface PublishedEvents {
  /** Adds an event that is to be offered to a wait. False: one of this id is known. Throws `EVENTS_FULL`. */
  add(event: NewEvent): Promise<boolean>;
  find(id: string): Promise<PublishedEvent | undefined>;
  /** Adds a wait, or replaces that of an earlier attempt, and claims the oldest event for it: one that it has claimed before, too. */
  register(wait: EventWait): Promise<PublishedEvent | undefined>;
  unregister(wait: WaitAddress): Promise<void>;
  /** By which fields steps wait for the event at this moment. */
  listFields(of: EventName): Promise<readonly (readonly string[])[]>;
  findWait(event: EventName & { readonly id: string }): Promise<EventWait | undefined>;
  /** False: it is another's, or its time is over. */
  claim(id: string, wait: Claim, now: number): Promise<boolean>;
  /** The wait is over and takes nothing: it is forgotten, and its event is to be offered again. */
  giveBack(id: string, wait: WaitAddress, now: number): Promise<void>;
  /** The run has the event. It is remembered for a day, so that it is not taken for a new one. */
  settle(id: string, now: number): Promise<void>;
  /** Nobody waits for it now: it is kept for who will. */
  keep(id: string): Promise<void>;
  /** Events whose offer or claim was begun before `before` and is not over: its process may have died. */
  listUnsettled(before: number, limit: number): Promise<readonly PublishedEvent[]>;
  /** Removes events, and waits, whose time is over. */
  forget(now: number): Promise<void>;
}

export interface EventName {
  /** Events of one tenant never reach runs of another. */
  readonly tenantId?: string | undefined;
  readonly name: string;
}

export interface NewEvent extends EventName {
  readonly id: string;
  /** By what it may be found. */
  readonly keys: readonly string[];
  readonly payload: JsonObject;
  readonly at: number;
  readonly expiresAt: number;
  /** How many events of a tenant are kept. */
  readonly most: number;
}

/** `open`: it is being offered. */
type EventState = "open" | "kept" | "claimed" | "done";

export interface PublishedEvent extends EventName {
  readonly id: string;
  readonly payload: JsonObject;
  readonly expiresAt: number;
  readonly state: EventState;
  /** The wait that it was claimed for. */
  readonly claim?: Claim;
}

/** One attempt of a step. */
export interface WaitAddress {
  readonly runId: string;
  readonly path: string;
  readonly attempt: number;
}

export interface Claim extends WaitAddress {
  readonly key: string;
}

export interface EventWait extends EventName, Claim {
  readonly fields: readonly string[];
  readonly since: number;
  /** Absent: it waits for as long as it takes. */
  readonly expiresAt?: number;
}
