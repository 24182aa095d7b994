import type { Command } from "../../core/history/commands.ts";
import type { Event } from "../../core/history/events.ts";
import type { RunState } from "../../core/history/run-state.ts";
import type { DeathOfProcess } from "../../core/interpreter/attempt/crashes.ts";
import { next } from "../../core/interpreter/next.ts";
import { pendingCommands, recoveryEvents } from "../../core/interpreter/recovery.ts";

/** An event as it is to be stored, with the value that lies beside it. */
export interface SessionEvent<Value> {
  readonly event: Event;
  readonly value?: Value;
}

/** The content of one commit. */
export interface Batch<Value> {
  readonly firstSeq: number;
  readonly events: readonly SessionEvent<Value>[];
  /** To be performed once the events are durable, and never before. */
  readonly commands: readonly Command[];
}

type FinishRun = Extract<Command, { type: "finishRun" }>;

/**
 * One run: a session applies an event, and answers with what must be stored and with what must be done once it is. It
 * does not know where it is stored or what time it is: times, ids and values come with the events. A host is a session with a
 * log, a clock and executors.
 */
export class Session<Value = string> {
  readonly state: RunState;
  readonly #finish: (command: FinishRun) => boolean;
  #events: SessionEvent<Value>[] = [];
  #commands: Command[] = [];
  #takenSeq: number;

  /** `finish` may end the run together with the event that caused the end. It returns true if it has. */
  constructor(state: RunState, finish: (command: FinishRun) => boolean = () => false) {
    this.state = state;
    this.#finish = finish;
    this.#takenSeq = state.seq;
  }

  /** Events have been applied that were not taken yet. */
  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /**
   * Changes the state at once. Returns the event as it is to be stored: with the decisions that the core took on it, and no earlier
   * than the one before it.
   */
  apply(given: Event, value?: Value): Event {
    const event = toOrdered(given, this.state.now);
    const { commands, decided } = next(this.state, event);
    const stored = decided.length === 0 ? event : { ...event, decided };
    this.#events.push(value === undefined ? { event: stored } : { event: stored, value });
    for (const command of commands) {
      const isDone = command.type === "finishRun" && this.#finish(command);
      if (!isDone) this.#commands.push(command);
    }
    return stored;
  }

  /** Everything since the last call, for one commit. Undefined: nothing has happened. */
  take(): Batch<Value> | undefined {
    const events = this.#events;
    if (events.length === 0) return undefined;
    const batch = { firstSeq: this.#takenSeq + 1, events, commands: this.#commands };
    this.#takenSeq += events.length;
    this.#events = [];
    this.#commands = [];
    return batch;
  }

  /**
   * For a new owner of a run whose process is gone: it applies the events, and then performs the commands, which were
   * durable before the crash.
   */
  recovery(death: DeathOfProcess): { readonly events: readonly Event[]; readonly commands: readonly Command[] } {
    return { events: recoveryEvents(this.state, death), commands: pendingCommands(this.state) };
  }
}

/** A start is written with the next commit, when others may have been; and the clock of a machine is set back now and then. */
function toOrdered(event: Event, now: number): Event {
  if (event.at >= now) return event;
  return event.type === "stepStarted" ? { ...event, at: now, startedAt: event.at } : { ...event, at: now };
}
