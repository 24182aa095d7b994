import type { Instance } from "../../history/run-state.ts";
import { beginCall } from "../step-kinds/call.ts";
import { beginFlow } from "../step-kinds/flow.ts";
import { beginWait } from "../step-kinds/wait.ts";
import type { Turn } from "../turn.ts";
import { admitTask } from "./admission.ts";
import { beginBinding } from "./begin-binding.ts";
import { succeedInstance } from "./conclude.ts";

/** Begins an attempt of an instance, by the kind of its step. */
export function beginInstance(turn: Turn, instance: Instance): void {
  const { step } = instance.step;
  switch (step.kind) {
    case "task":
      return admitTask(turn, instance);
    case "flow":
      return beginFlow(turn, instance);
    case "call":
      return beginCall(turn, instance);
    case "wait":
      return beginWait(turn, instance, step.wait);
    case "approve":
      return beginBinding(turn, instance, "askApproval");
    case "set":
      if (step.value !== undefined) return beginBinding(turn, instance, "evaluateStep");
      instance.attempt += 1;
      return succeedInstance(turn, instance, 0);
    case "respond":
      return beginBinding(turn, instance, "evaluateStep");
  }
}
