import type { StepBody, StepDefinition } from "../parse-step.ts";
import { type Slot, slotsOf } from "./template.ts";
import { slotsOfValue } from "./value.ts";

/** Everything that a step's own texts refer to, its fallback included. Not the list that it fans out over. */
export function slotsOfStep(step: StepDefinition): readonly Slot[] {
  const fallback = step.fallback === undefined ? [] : slotsOf(step.fallback.prompt);
  return [...slotsOfBody(step.body), ...fallback];
}

function slotsOfBody(body: StepBody): readonly Slot[] {
  switch (body.type) {
    case "agent":
      return slotsOf(body.call.prompt);
    case "approval":
      return [...slotsOf(body.message), ...(body.show === undefined ? [] : [body.show])];
    case "subWorkflow":
      return [...slotsOf(body.workflow), ...[...(body.input?.values() ?? [])].flatMap(slotsOfValue)];
    case "wait":
      if (body.wait.for === "duration") return [];
      if (body.wait.for === "instant") return slotsOf(body.wait.at);
      return [...slotsOf(body.wait.name), ...[...(body.wait.match?.values() ?? [])].flatMap(slotsOfValue)];
    case "work":
      return slotsOfValue(body.input);
  }
}
