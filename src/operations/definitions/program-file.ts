import { pathToFileURL } from "node:url";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { isTimezone } from "../../core/iso-time.ts";
import { asObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { explainCron } from "../../dialects/explain-cron.ts";
import type { DefinedFunction } from "../../dialects/typescript/open-definition.ts";
import type { AnyWorkflow } from "../../dialects/typescript/workflow.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { PROGRAM_MARK, type StepFunctions } from "../../ports/step-functions.ts";

/** The workflows that a file of TypeScript or JavaScript exports. It is a program: reading it runs it. Throws `DEFINITION_INVALID`. */
export async function readProgram(file: string): Promise<readonly AnyWorkflow[]> {
  const exported = await importProgram(file);
  const workflows = [...new Set(Object.values(exported))].filter(isWorkflow);
  if (workflows.length > 0) return checkPrograms(workflows);
  throw new PawlError("DEFINITION_INVALID", {
    message: `${file} exports no workflow.`,
    remedy: 'Write `export const NAME = workflow("NAME", ...)`, with `workflow` of the package `pawl`.',
  });
}

/** What a definition cannot say of itself while it is made: whether its schedule is one, and its name its own. Throws `DEFINITION_INVALID`. */
export async function checkPrograms<W extends AnyWorkflow>(workflows: readonly W[]): Promise<readonly W[]> {
  refuseTwice(workflows);
  for (const { name, graph, place = "" } of workflows) {
    for (const trigger of graph.triggers ?? []) {
      if (trigger.kind !== "cron") continue;
      const { schedule, timezone } = trigger;
      const reason =
        (await explainCron(schedule)) ?? (isTimezone(timezone) ? undefined : `\`${timezone}\` is no time zone`);
      if (reason === undefined) continue;
      throw new PawlError("DEFINITION_INVALID", {
        message: `The schedule of the workflow \`${name}\`${place} is refused: ${reason.replace(/\.$/, "")}.`,
        remedy: "Write five fields, such as `0 9 * * 1-5`, and an IANA name, such as `Europe/Berlin`.",
      });
    }
  }
  return workflows;
}

/** Of two that say the same nothing is lost. */
function refuseTwice(workflows: readonly AnyWorkflow[]): void {
  const known = new Map<string, AnyWorkflow>();
  for (const workflow of workflows) {
    const { name, place = "" } = workflow;
    const first = known.get(name);
    known.set(name, workflow);
    if (first === undefined || contentOf(first) === contentOf(workflow)) continue;
    throw new PawlError("DEFINITION_INVALID", {
      message: `Two workflows with different content have the name \`${name}\`: ${[first.place ?? "", place].map((at) => `one${at}`).join(", ")}.`,
      remedy: "Rename one: runs find their workflow by its name.",
    });
  }
}

/** The graph wherever it stands. */
function contentOf({ graph }: AnyWorkflow): string {
  return writeExact(graph, (key, value) =>
    key === "place" && Object.hasOwn(Object(value), "line") ? undefined : value,
  );
}

/** The workflow of a file: the one that is named, else its only one. Throws `WORKFLOW_NOT_FOUND`, `PART_NOT_CHOSEN`, and as `readProgram`. */
export async function findInProgram(file: string, name: string | undefined): Promise<CompiledDefinition> {
  const workflows = await readProgram(file);
  const names = workflows.map((workflow) => workflow.name).join(", ");
  const [only] = name === undefined ? workflows : workflows.filter((workflow) => workflow.name === name);
  if (only === undefined)
    throw new PawlError("WORKFLOW_NOT_FOUND", { message: `${file} has no workflow "${name}"; it has ${names}.` });
  if (name === undefined && workflows.length > 1)
    throw new PawlError("PART_NOT_CHOSEN", { message: `${file} has several workflows: ${names}.` });
  return compileProgram(only, file);
}

/** The functions of a file's steps, for as long as this process lasts: what changes in the file is not seen. */
export async function readFunctions(file: string): Promise<StepFunctions> {
  const functions = new Map((await readProgram(file)).flatMap(({ functions }) => [...functions]));
  const versionOf = (key: string) => functions.get(key)?.version;
  return { find: findIn(functions), versionOf, changed: () => new Promise(() => undefined) };
}

export function findIn(functions: ReadonlyMap<string, DefinedFunction>): StepFunctions["find"] {
  return ({ key, version }) => {
    const found = functions.get(key);
    return found?.version === version ? found.does : undefined;
  };
}

/** The name of the workflow in a pinned text, which is its graph. */
export function nameOfPinned(text: string): string | undefined {
  const { name } = asObject(parseJson(text));
  return typeof name === "string" ? name : undefined;
}

/** `source`: the file that has its functions. Undefined: this program has them. */
export function compileProgram({ graph }: Pick<AnyWorkflow, "graph">, source?: string): CompiledDefinition {
  if (source !== undefined) return { text: writeExact(graph), graph: liftControls(graph), source };
  return { text: `${PROGRAM_MARK}true,${writeExact(graph).slice(1)}`, graph: liftControls(graph) };
}

async function importProgram(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object;
  } catch (cause) {
    if (cause instanceof PawlError) throw cause;
    const { code, message, remedy } = describeFailure(cause);
    throw new PawlError("DEFINITION_INVALID", {
      message: `${file} cannot be read: ${message}`,
      remedy: remedy ?? remedyOf(code),
      cause,
    });
  }
}

/** What another copy of the package throws is no `PawlError` of this one. */
function describeFailure(cause: unknown): {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
} {
  if (!(cause instanceof Error)) return { code: "", message: String(cause) };
  const { code, remedy } = cause as { readonly code?: unknown; readonly remedy?: unknown };
  return { code: String(code ?? ""), message: cause.message, ...(typeof remedy === "string" ? { remedy } : {}) };
}

function remedyOf(code: string): string {
  if (code === "ERR_MODULE_NOT_FOUND") return "Install what it imports: `npm i pawl`, for the package itself.";
  if (code === "ERR_UNKNOWN_FILE_EXTENSION")
    return "Node reads TypeScript from 22.18 on: use a newer one, or write JavaScript.";
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")
    return "Node only takes types away: write no enums, namespaces and parameter properties.";
  return "Correct the program: `node FILE` says more.";
}

function isWorkflow(value: unknown): value is AnyWorkflow {
  if (typeof value !== "object" || value === null || !("graph" in value && "functions" in value)) return false;
  const { graph, functions } = value;
  return (
    typeof graph === "object" &&
    graph !== null &&
    "dialect" in graph &&
    graph.dialect === "typescript" &&
    functions instanceof Map
  );
}
