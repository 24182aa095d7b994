import type { OpenApplication } from "../../../operations/application/ports.ts";
import { planRun } from "../../../operations/plan/plan-run.ts";
import type { Plan } from "../../../operations/plan/plan-schemas.ts";
import { findStartable } from "../../../operations/start/prepare-run.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

export interface PlanOptions extends CommonOptions {
  readonly i?: readonly string[];
  readonly input?: string;
  readonly agent?: string;
  readonly maxCost?: number;
  readonly outputTokens?: number;
  readonly toolTokens?: number;
}

/** `pawl plan`: what a run would cost at worst. Nothing is run. */
export async function plan(app: OpenApplication, workflow: string, options: PlanOptions): Promise<number> {
  const { agent, maxCost, outputTokens, toolTokens } = options;
  const folder = process.cwd();
  const startable = await findStartable(app, {
    workflow,
    folder,
    inputPairs: options.i ?? [],
    inputFile: options.input,
  });
  const planned = await planRun(app, startable, {
    folder,
    agent,
    maxCostUsd: maxCost,
    assume: { output_tokens: outputTokens, tool_tokens: toolTokens },
  });
  return showPlan(planned, options);
}

export async function showPlan(planned: Plan, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(planned);
  else {
    const { renderPlan } = await import("../render/pages/render-plan.ts");
    print(renderPlan(planned, pageOptions()));
  }
  return 0;
}
