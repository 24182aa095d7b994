import type { OpenApplication } from "../../../operations/application/application.ts";
import { type Costs, type CostsWanted, sumCosts } from "../../../operations/costs/sum-costs.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

export interface CostsOptions extends CommonOptions, CostsWanted {}

/** `pawl costs`: what runs have cost. */
export async function costs(app: OpenApplication, options: CostsOptions): Promise<number> {
  const { by, since, until } = options;
  const summed = await sumCosts(app, { by, since, until });
  return showCosts(summed, options);
}

export async function showCosts(summed: Costs, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(summed);
  else {
    const { renderCosts } = await import("../render/render-costs.ts");
    print(renderCosts(summed, pageOptions()));
  }
  return 0;
}
