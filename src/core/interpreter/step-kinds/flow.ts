import type { IndexedFlow } from "../../graph/indexed-graph.ts";
import type { Frame, Instance } from "../../history/run-state.ts";
import { openScope } from "../flow/open-scope.ts";
import { startTimer, timerOf } from "../timers.ts";
import type { Turn } from "../turn.ts";

export function beginFlow(turn: Turn, instance: Instance): void {
  const { body } = instance.step;
  if (body === undefined) throw new Error(`"${instance.path}" is a flow without a body.`);
  instance.attempt += 1;
  instance.startedAt = turn.state.now;
  openBody(turn, instance, { flow: body, frame: instance.scope.frame, timeoutMs: undefined });
}

export interface Body {
  readonly flow: IndexedFlow;
  readonly frame: Frame;
  /** The time-out of the body itself, beside that of its step. */
  readonly timeoutMs: number | undefined;
}

/** A nested flow or a called workflow begins. Its own retries live under paths of their own. */
export function openBody(turn: Turn, instance: Instance, { flow, frame, timeoutMs: ownMs = FOREVER }: Body): void {
  const path = instance.failures === 0 ? instance.path : `${instance.path}~retry${instance.failures}`;
  instance.phase = "body";
  instance.failure = undefined;
  const timeoutMs = Math.min(instance.step.step.timeoutMs ?? FOREVER, ownMs);
  if (timeoutMs < FOREVER) startTimer(turn, timerOf(instance, "timeout"), turn.state.now + timeoutMs);
  instance.child = openScope(turn, { path, role: "body", frame, flow, parent: instance });
}

const FOREVER = Number.POSITIVE_INFINITY;
