import { isPawlError } from "../../core/errors/pawl-error.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { Compiled, LoadOptions } from "../definition.ts";
import type { ProblemList } from "../problem-list.ts";
import { checkLater } from "../shape/check-later.ts";
import { toExcerpt } from "../source/printable.ts";
import { findPart, type YamlMap } from "../source/yaml-node.ts";
import { checkWorkflow } from "./check.ts";
import { lowerWorkflow } from "./lower/lower.ts";
import { parseWorkflow, type Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import type { Template } from "./references/template.ts";
import { buildStepGraph } from "./step-graph.ts";

/** Compiles a Sandcastle file: parse, check, lower. Never throws on what a file may hold. */
export async function compileSandcastle(
  root: YamlMap,
  problems: ProblemList,
  { hasInlineAgents = false, hasChromium = () => true }: LoadOptions,
): Promise<Compiled> {
  const { workflow, later } = parseWorkflow(root, problems, hasChromium);
  const steps = buildStepGraph(workflow.steps);
  checkWorkflow(workflow, steps, problems);
  if (hasInlineAgents && workflow.sandstormUrl === undefined) reportUnreachableSites(workflow.steps, problems);
  await checkLater({ later, problems });
  await checkDefaults(root, workflow, problems);
  if (problems.hasErrors) return { problems: problems.toArray() };
  const files = workflow.steps.flatMap(({ body }) => (body.type === "work" ? body.files : []));
  return { graph: lowerWorkflow(workflow, steps, problems.source), files, problems: problems.toArray() };
}

/** Whether each default fits its own schema. */
async function checkDefaults(root: YamlMap, { input }: Workflow, problems: ProblemList): Promise<void> {
  const at = root.entries.get("input_schema")?.value;
  const { schema, defaults } = input;
  if (at === undefined || schema === undefined || Object.keys(defaults).length === 0) return;
  const schemas = new JsonSchemas();
  if ((await schemas.findFault(schema)) !== undefined) return;
  try {
    const mismatches = await schemas.listMismatches({ ...schema, required: [] }, defaults);
    for (const [name, found] of Map.groupBy(mismatches, ({ path }) => nameIn(path))) {
      if (!Object.hasOwn(defaults, name)) continue;
      const place = findPart(at, ["properties", name, "default"]);
      const reason = found.map(({ path, message }) => `it${path} ${message}`).join(", ");
      problems.error({
        code: "VALUE_INVALID",
        at: place,
        message: `The default of \`${name}\` does not fit: ${reason}.`,
      });
    }
  } catch (error) {
    if (!isPawlError(error)) throw error;
    problems.error({ code: "SCHEMA_INVALID", at, message: `\`input_schema\`: ${error.message}` });
  }
}

/** The first part of a JSON pointer. */
function nameIn(pointer: string): string {
  return (pointer.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Agent servers bring tools of their own; an agent of Pawl itself has those that its step lists. */
function reportUnreachableSites(steps: readonly StepDefinition[], problems: ProblemList): void {
  for (const { id, at, body } of steps) {
    // `files` reads no sites. Every tool of an MCP server may.
    if (body.type !== "agent" || body.call.tools?.some((tool) => tool !== "files") === true) continue;
    const site = findSite(body.call.prompt);
    if (site === undefined) continue;
    const message = `Step '${toExcerpt(id)}' asks for ${toExcerpt(site)}, and its agent has no tool to read it.`;
    problems.warning({ code: "SITE_WITHOUT_TOOL", at, message });
  }
}

const URL = /https?:\/\/[^\s"'<>)\]]+/;
const NAMES_OF_SITES = /^(url|website|web_site|homepage|link)$/i;

/** An address, or a value whose name says that it is one. */
function findSite({ parts }: Template): string | undefined {
  for (const part of parts) {
    if (typeof part === "string") {
      const url = URL.exec(part)?.[0];
      if (url !== undefined) return url;
    } else if ("path" in part.reference && NAMES_OF_SITES.test(String(part.reference.path.at(-1)))) return part.written;
  }
  return undefined;
}
