import { renderProblem } from "../../dialects/render-problem.ts";
import type { StoredDefinition } from "../../ports/service/workflow-definitions.ts";
import type { DefinitionPorts } from "../application/ports.ts";
import type { DefinitionReport } from "../definitions/compile/report-on-text.ts";
import { reportOnSaved } from "../definitions/saved-definitions.ts";
import { TriggerTables } from "../triggers/trigger-tables.ts";

/** Reports on definitions that clients have saved, each with why its trigger is not armed: a file may have come later. */
export async function reportOnArmed(
  app: DefinitionPorts,
  saved: readonly StoredDefinition[],
): Promise<readonly DefinitionReport[]> {
  const reports = await Promise.all(saved.map((each) => reportOnSaved(app, each)));
  if (saved.every(({ startsBy }) => startsBy !== "http" && startsBy !== "several")) return reports;
  const { problems } = await new TriggerTables(app).find(app.tenantId);
  return reports.map((report, index) => {
    const stored = saved[index];
    const found = problems.find(
      ({ target }) => target.file === undefined && target.definition.graph.name === stored?.name,
    );
    if (found === undefined || stored === undefined) return report;
    const { code, message, remedy } = found;
    const problem = { code, severity: "warning", message, remedy } as const;
    return { ...report, problems: [...report.problems, { ...problem, rendered: renderProblem(problem, stored.text) }] };
  });
}
