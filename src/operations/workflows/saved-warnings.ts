import { ERRORS, type ErrorCode } from "../../core/errors/error-table.ts";
import type { Problem } from "../../core/errors/problem.ts";
import type { Graph } from "../../core/graph/graph.ts";

/** Warns of keys that count in files of the application only: a client that saves definitions is trusted with less. */
export function warnOfSaved({ ending }: Graph): readonly Problem[] {
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
