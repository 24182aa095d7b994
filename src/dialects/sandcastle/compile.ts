import type { Compiled, LoadOptions } from "../definition.ts";
import { explainCron } from "../explain-cron.ts";
import { JsonSchemaChecker } from "../json-schema-checker.ts";
import type { Text } from "../map-reader.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Range, SourceText } from "../source/source-text.ts";
import type { YamlMap, YamlNode } from "../source/yaml-node.ts";
import { checkWorkflow } from "./check.ts";
import { lowerWorkflow } from "./lower.ts";
import { parseWorkflow } from "./parse.ts";
import type { ParseContext, SchemaUse } from "./parse-context.ts";
import { reportUnreachableSites } from "./report-sites.ts";
import { buildStepGraph } from "./step-graph.ts";
import type { Workflow } from "./workflow.ts";

/** Compiles a Sandcastle file: parse, check, lower. Never throws on what a file may hold. */
export async function compileSandcastle(
  root: YamlMap,
  { source, problems }: { readonly source: SourceText; readonly problems: ProblemList },
  { hasInlineAgents = false, hasChromium = () => true }: Pick<LoadOptions, "hasInlineAgents" | "hasChromium">,
): Promise<Compiled> {
  const uses: Pick<ParseContext, "schemas" | "crons" | "regexes"> = { schemas: [], crons: [], regexes: [] };
  const workflow = parseWorkflow(root, { source, problems, ...uses, hasChromium });
  const steps = buildStepGraph(workflow.steps);
  checkWorkflow(workflow, steps, problems);
  if (hasInlineAgents && workflow.sandstormUrl === undefined) reportUnreachableSites(workflow.steps, problems);
  await checkSchemas(uses.schemas, workflow, problems);
  await checkCrons(uses.crons, problems);
  await checkRegexes(uses.regexes, problems);
  if (problems.hasErrors) return { problems: problems.toArray() };
  return { graph: lowerWorkflow(workflow, steps, source), problems: problems.toArray() };
}

async function checkCrons(crons: readonly Text[], problems: ProblemList): Promise<void> {
  for (const cron of crons) {
    const reason = await explainCron(cron.value);
    if (reason !== undefined) problems.error({ code: "CRON_INVALID", at: cron.at, message: reason });
  }
}

async function checkRegexes(regexes: readonly Text[], problems: ProblemList): Promise<void> {
  if (regexes.length === 0) return;
  const { checkRegex } = await import("../check-regex.ts");
  for (const regex of regexes) {
    const reason = checkRegex(regex.value);
    if (reason === undefined) continue;
    const message = `The regular expression cannot be used: ${reason}.`;
    problems.error({ code: "VALUE_INVALID", at: regex.at, message, remedy: "Write it in the syntax of RE2." });
  }
}

async function checkSchemas(uses: readonly SchemaUse[], workflow: Workflow, problems: ProblemList): Promise<void> {
  const checker = new JsonSchemaChecker();
  for (const use of uses) {
    const fault = await checker.findFault(use.schema);
    if (fault === undefined) {
      if (use.key === "input_schema") await checkDefaults(use, workflow, { checker, problems });
      continue;
    }
    problems.error({
      code: "SCHEMA_INVALID",
      at: findNode(use.at, fault.path),
      message: `\`${use.key}\`: ${fault.message}`,
    });
  }
}

async function checkDefaults(
  { at, schema }: SchemaUse,
  { input }: Workflow,
  { checker, problems }: { readonly checker: JsonSchemaChecker; readonly problems: ProblemList },
): Promise<void> {
  for (const [name, value] of Object.entries(input.defaults)) {
    const only = { ...schema, required: [] };
    const reason = await checker.explainMismatch(only, Object.fromEntries([[name, value]]));
    if (reason === undefined) continue;
    const place = findNode(at, ["properties", name, "default"]);
    problems.error({
      code: "VALUE_INVALID",
      at: place,
      message: `The default of \`${name}\` does not fit: ${reason}.`,
    });
  }
}

/** The deepest part of a node that a path reaches. */
function findNode(node: YamlNode, path: readonly string[]): Range {
  let current = node;
  for (const key of path) {
    const next =
      current.kind === "map"
        ? current.entries.get(key)?.value
        : current.kind === "list"
          ? current.items[Number(key)]
          : undefined;
    if (next === undefined) return current;
    current = next;
  }
  return current;
}
