import type { Command } from "../history/commands.ts";
import type { Event } from "../history/events.ts";
import type { RunState } from "../history/run-state.ts";
import type { Json } from "../json.ts";
import { applyEvent } from "./apply-event.ts";
import { drainWork } from "./drain-work.ts";
import { newTurn } from "./turn.ts";

export interface Step {
  /** To be performed only after the event is durable. */
  readonly commands: readonly Command[];
  /** To be stored with the event: a rebuild reads them. */
  readonly decided: readonly Json[];
}

/**
 * Applies one event to the state, in place, and decides what must happen next. Deterministic: equal history, equal
 * commands. Costs what the event makes ready, whatever the length of the history.
 */
export function next(state: RunState, event: Event): Step {
  return turn(state, event, undefined);
}

/** Applies a stored event: its recorded decisions stand, nothing is evaluated. What it wished was wished before. */
export function refold(state: RunState, event: Event): void {
  turn(state, event, event.decided ?? []);
}

function turn(state: RunState, event: Event, recorded: readonly Json[] | undefined): Step {
  state.seq += 1;
  if (event.at > state.now) state.now = event.at;
  const turn = newTurn(state, recorded);
  applyEvent(turn, event);
  drainWork(turn);
  return { commands: turn.commands, decided: turn.decisions.taken };
}
