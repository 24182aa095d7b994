import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { AgentsFile, WorkflowDefinition } from "./parse.ts";
import { stepsOf, type Targets } from "./resolve-steps.ts";

const MAX_STEPS = 500;
const MAX_DEPTH = 10;
/** Each step of a graph has its agent's settings: a long prompt that many steps name makes a large graph. */
const MAX_PROMPT_CHARS = 8 * 1024 * 1024;

interface Extent {
  readonly steps: number;
  readonly depth: number;
  readonly chars: number;
}

/** Workflows that call each other in a circle, and those that become too large with what they call. */
export function checkNesting({ workflows }: AgentsFile, targets: Targets, problems: ProblemList): void {
  const walk = new Walk(targets, problems);
  for (const workflow of workflows) walk.measure(workflow);
}

class Walk {
  readonly #targets: Targets;
  readonly #problems: ProblemList;
  readonly #extents = new Map<WorkflowDefinition, Extent>();
  readonly #path: WorkflowDefinition[] = [];

  constructor(targets: Targets, problems: ProblemList) {
    this.#targets = targets;
    this.#problems = problems;
  }

  measure(workflow: WorkflowDefinition): Extent {
    const known = this.#extents.get(workflow);
    if (known !== undefined) return known;
    this.#path.push(workflow);
    const extent = this.#path.length > MAX_DEPTH ? this.#reportDepth(workflow) : this.#measureSteps(workflow);
    this.#path.pop();
    this.#extents.set(workflow, extent);
    return extent;
  }

  #measureSteps(workflow: WorkflowDefinition): Extent {
    const total = { steps: 0, depth: 1, chars: 0 };
    for (const step of stepsOf(workflow)) {
      total.steps += 1;
      const target = this.#targets.get(step);
      if (target?.kind === "agent") total.chars += lengthOf(target.agent.settings);
      if (target?.kind !== "own") continue;
      if (this.#path.includes(target.workflow)) {
        this.#reportCircle(target.workflow, step.at);
        continue;
      }
      const inner = this.measure(target.workflow);
      total.steps += inner.steps;
      total.chars += inner.chars;
      total.depth = Math.max(total.depth, inner.depth + 1);
    }
    return this.#bounded(workflow, total);
  }

  /** A workflow that is too large is reported once, not again for those that name it. */
  #bounded(workflow: WorkflowDefinition, { steps, depth, chars }: Extent): Extent {
    const name = toExcerpt(workflow.name);
    if (steps > MAX_STEPS) {
      const message = `Workflow '${name}' has ${steps} steps, with those of the workflows that it names; ${MAX_STEPS} are allowed.`;
      this.#problems.error({ code: "TOO_MANY_STEPS", at: workflow.at, message });
      return NOTHING;
    }
    if (chars > MAX_PROMPT_CHARS) {
      const message = `The prompts of the agents of workflow '${name}' come to more than 8 MB.`;
      this.#problems.error({
        code: "TOO_LARGE",
        at: workflow.at,
        message,
        remedy: "Shorten them, or name them less often.",
      });
      return NOTHING;
    }
    if (depth > MAX_DEPTH) return this.#reportDepth(workflow);
    return { steps, depth, chars };
  }

  #reportDepth(workflow: WorkflowDefinition): Extent {
    const message = `Workflow '${toExcerpt(workflow.name)}' stands more than ${MAX_DEPTH} levels deep in others, or has them below it.`;
    this.#problems.error({ code: "MAX_DEPTH", at: workflow.at, message, remedy: "Nest workflows less deeply." });
    return NOTHING;
  }

  #reportCircle(workflow: WorkflowDefinition, at: { readonly start: number; readonly end: number }): void {
    const circle = [...this.#path.slice(this.#path.indexOf(workflow)), workflow].map(({ name }) => toExcerpt(name));
    const message =
      circle.length === 2
        ? `Workflow '${circle[0]}' names itself.`
        : `Workflows name each other in a circle: ${circle.join(" -> ")}.`;
    this.#problems.error({ code: "STEP_CYCLE", at, message, remedy: "Remove one of the steps." });
  }
}

const NOTHING: Extent = { steps: 0, depth: 1, chars: 0 };

function lengthOf(settings: ReadonlyMap<string, { readonly value: unknown }>): number {
  const prompt = settings.get("system_prompt")?.value;
  return typeof prompt === "string" ? prompt.length : 0;
}
