import type { Policy } from "../../../core/graph/policy.ts";
import type { Application } from "../../../operations/application/application.ts";
import { listViolations, type ViolationList } from "../../../operations/runs/list-violations.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

export interface ViolationsOptions extends CommonOptions {
  readonly run?: string;
  readonly workflow?: string;
  readonly policy?: string;
  readonly action?: Policy["action"];
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
  readonly cursor?: string;
}

/** `pawl violations`. */
export async function listViolationsCommand(app: Application, options: ViolationsOptions): Promise<number> {
  const { since: from, until: before, run, workflow, policy, action, limit, cursor } = options;
  return showViolations(
    await listViolations(app, { run, workflow, policy, action, from, before, limit, cursor }),
    options,
  );
}

export async function showViolations(list: ViolationList, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderViolations } = await import("../render/render-violations.ts");
    print(renderViolations(list.items, pageOptions()));
    if (list.next_cursor !== null) tell(`There are more: --cursor ${list.next_cursor}`);
  }
  return 0;
}
