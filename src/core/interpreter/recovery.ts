import type { Command } from "../history/commands.ts";
import type { Event } from "../history/events.ts";
import type { Instance, RunState } from "../history/run-state.ts";
import { type DeathOfProcess, isSuspect, toInterrupted } from "./attempt/crashes.ts";
import { timerOf } from "./timers.ts";

/** A crash is an event: what a new owner must record about attempts whose process is gone, before it goes on. */
export function recoveryEvents(state: RunState, death: DeathOfProcess): readonly Event[] {
  const inFlight = [...state.active.values()].filter(({ phase }) => phase === "dispatched");
  const isApart = !inFlight.some((instance) => isSuspect(instance) && instance.begun);
  const events: Event[] = inFlight.map((instance) => toInterrupted(instance, death, isApart));
  if (state.isSuspended && !state.isHeld) events.push({ type: "runResumed", at: death.at });
  return events;
}

/** The wishes of a rebuilt state that are still open, tasks in flight excepted. */
export function pendingCommands(state: RunState): readonly Command[] {
  if (state.phase === "finishing" && state.ending !== undefined) return [{ type: "finishRun", ...state.ending }];
  if (state.phase !== "open") return [];
  const commands: Command[] = [...state.timers].map(([timer, at]) => ({ type: "startTimer", timer, at }));
  for (const instance of state.active.values()) {
    const { attempt } = instance;
    if (instance.phase === "projecting") commands.push({ type: "projectStep", instance, attempt });
    if (instance.phase === "binding") commands.push({ type: bindingCommand(instance), instance, attempt });
    if (instance.phase === "backoff" && !state.timers.has(timerOf(instance, "retry")))
      throw new Error(`"${instance.path}" backs off without a timer.`);
  }
  return commands;
}

function bindingCommand(instance: Instance): "evaluateStep" | "resolveCall" | "askApproval" | "beginWait" {
  switch (instance.step.step.kind) {
    case "call":
      return "resolveCall";
    case "approve":
      return "askApproval";
    case "wait":
      return "beginWait";
    case "set":
    case "respond":
    case "task":
    case "flow":
      return "evaluateStep";
  }
}
