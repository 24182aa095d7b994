import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import type { Block, StepDefinition } from "../shape/step-shape.ts";
import type { FlowScope } from "./lower-context.ts";

/** A block before it is lowered: what runs in it has to know what it can name, which may depend on what runs in it. */
export interface PlannedBlock {
  /** The id of its step where it has only one. */
  readonly onlyId: string | undefined;
  /** The ids of its steps. */
  readonly ids: readonly string[];
  lower(inner: Partial<Pick<FlowScope, "visible" | "locals" | "allowsError" | "fanOuts">>): MachineFlow;
}

/** Undefined: the block has no beginning, which has been reported. */
export type PlanBlock = (block: Block, owner: StepDefinition, scope: FlowScope) => PlannedBlock | undefined;

/** A block as one step of this id: its only step itself where that has the id and leads nowhere, so that paths stay short. */
export function toStep(flow: MachineFlow, id: string): Step {
  const [only, ...others] = flow.steps;
  if (only === undefined || others.length > 0 || only.id !== id || !isPlain(only)) return { kind: "flow", id, flow };
  const { transitions: _, ...step } = only;
  return step;
}

function isPlain({ assign, transitions = [] }: Step): boolean {
  return (
    assign === undefined &&
    transitions.every(({ on, when, to }) => on === "success" && when === undefined && typeof to !== "string")
  );
}
