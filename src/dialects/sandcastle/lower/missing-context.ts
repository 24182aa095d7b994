import type { TextPart } from "../../../core/expressions/expr.ts";
import { outputOf } from "../../build-expr.ts";
import type { StepDefinition } from "../parse-step.ts";
import { slotsOf, type Template } from "../references/template.ts";

/**
 * What is added to a prompt: the outputs of direct dependencies that it does not mention. Many real files rely on it.
 * A pause has nothing to tell and is left out; an output of null is shown as `null`.
 */
export function missingContext(
  step: StepDefinition,
  prompt: Template,
  steps: readonly StepDefinition[],
): readonly TextPart[] {
  const mentioned = new Set(
    slotsOf(prompt).map(({ reference }) => (reference.to === "step" ? reference.step : undefined)),
  );
  const silent = new Set(steps.filter(isPause).map(({ id }) => id));
  const missing = new Set(step.dependsOn.map(({ id }) => id).filter((id) => !mentioned.has(id) && !silent.has(id)));
  if (missing.size === 0) return [];
  const blocks = [...missing].flatMap((id): TextPart[] => [`\n[${id}]: `, { value: outputOf(id), written: "null" }]);
  return ["\n\nContext from previous steps:", ...blocks];
}

function isPause({ body }: StepDefinition): boolean {
  return body.type === "wait" && body.wait.for !== "event";
}
