import type { Config } from "../../config/load-config.ts";
import { ERRORS, type ErrorCode } from "../../core/errors/error-table.ts";
import type { Problem } from "../../core/errors/problem.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { renderProblem } from "../../dialects/render-problem.ts";
import type { StoredDefinition, WorkflowDefinitions } from "../../ports/service/workflow-definitions.ts";
import { reportOnSent } from "./compile/report-on-sent.ts";
import type { DefinitionReport } from "./compile/report-on-text.ts";
import type { CompiledTexts } from "./compiled-texts.ts";
import { grantOfSaved } from "./grant-of-saved.ts";
import { loadOptionsOf } from "./load-options.ts";

interface SavedPlaces {
  readonly tenantId?: string | undefined;
  service(): Promise<{ readonly definitions: WorkflowDefinitions }>;
}

/** A definition that a client has saved: the tenant's own, else the application's. Without a version the newest. */
export async function findSaved(
  app: SavedPlaces,
  name: string,
  version?: number,
): Promise<StoredDefinition | undefined> {
  const { definitions } = await app.service();
  const own = app.tenantId === undefined ? undefined : await definitions.find({ tenantId: app.tenantId, name });
  const owner = own === undefined || app.tenantId === undefined ? {} : { tenantId: app.tenantId };
  return definitions.find({ ...owner, name, version });
}

/** Those that can be run by their names: the tenant's own go before the application's. */
export async function listSaved(app: SavedPlaces): Promise<readonly StoredDefinition[]> {
  const { definitions } = await app.service();
  const shared = await definitions.list({});
  if (app.tenantId === undefined) return shared;
  const own = await definitions.list({ tenantId: app.tenantId });
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...shared.filter(({ name }) => !names.has(name))];
}

/** Compiled as any text that a client sends: no folders, so that it pins no file of this machine. */
export async function reportOnSaved(
  { config, compiledTexts }: { readonly config: Config; readonly compiledTexts?: CompiledTexts | undefined },
  { name, text, ...saved }: Pick<StoredDefinition, "name" | "text" | "tenantId" | "grant">,
): Promise<DefinitionReport> {
  const loading = { source: name, grant: grantOfSaved(saved), ...loadOptionsOf(config) };
  const report = await (compiledTexts?.report(text, loading) ?? reportOnSent(text, { folders: [], ...loading }));
  if (report.definition === undefined) return report;
  const warnings = warnOfSaved(report.definition.graph);
  if (warnings.length === 0) return report;
  const shown = warnings.map((problem) => ({ ...problem, rendered: renderProblem(problem, text) }));
  const problems = [...report.problems, ...shown];
  return { definition: { ...report.definition, warnings: problems }, problems };
}

/** Warns of keys that count in files of the application only: a client that saves definitions is trusted with less. */
function warnOfSaved({ ending }: Graph): readonly Problem[] {
  const warnings: Problem[] = [];
  // An address of the client's own would carry away any variable that it names.
  const webhooks = {
    on_complete: ending.completionWebhook,
    on_failure: ending.failureWebhook,
    on_approval: ending.approvalWebhook,
  };
  for (const [key, url] of Object.entries(webhooks)) {
    const [, name] = /\$\{(\w+)\}/.exec(url ?? "") ?? [];
    if (name === undefined) continue;
    const message = `\`${key}.webhook\` is not called: \${${name}} is not read in a definition that is saved through the service.`;
    warnings.push(warning("VARIABLE_NOT_READ", message));
  }
  return warnings;
}

function warning(code: ErrorCode, message: string): Problem {
  return { code, severity: "warning", message, remedy: ERRORS[code].remedy };
}
