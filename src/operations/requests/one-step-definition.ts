import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Problem } from "../../core/errors/problem.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import type { Graph, Place } from "../../core/graph/graph.ts";
import { isJsonObject, type JsonObject, ownField } from "../../core/json.ts";
import type { NeededFile } from "../../dialects/definition.ts";
import { REQUEST_CONTEXT } from "../../dialects/uhlp/lower/lower-work.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { pinFiles } from "../definitions/pin-files.ts";

export interface OneStepWork {
  readonly kind: "jit" | "llm";
  /** The request's `taskDetails`. */
  readonly details: JsonObject;
  /** The folders of scripts and prompt templates, unless `read` fetches them. */
  readonly appDir: string;
  read?(path: string): Promise<string>;
}

const START: Place = { line: 1, column: 1 };
const LANGUAGES = ["python", "javascript", "typescript"];

/**
 * One script or one prompt as a workflow, so that it is recorded, resumed and shown like any other run. Its input is
 * `params` (or `input`) of the details, else the whole `requestData`. Throws `REQUEST_INVALID`.
 */
export async function oneStepDefinition(work: OneStepWork): Promise<CompiledDefinition> {
  const { kind, details, appDir, read } = work;
  const input = kind === "jit" ? jitInput(details) : llmInput(details);
  const text = writeExact(details);
  const { graph, problems } = await pinFiles(toGraph(kind, input), {
    text,
    files: filesOf(input),
    folders: [appDir],
    ...(read === undefined ? {} : { read }),
  });
  if (graph !== undefined) return { text, graph };
  throw invalid(faultOf(problems.find(({ severity }) => severity === "error")));
}

/** Callers must not learn the application's folder. */
function faultOf(problem: Problem | undefined): string {
  if (problem?.code === "FILE_NOT_FOUND") return "the application has no such file.";
  return problem?.message ?? "a file that it names cannot be used.";
}

function toGraph(kind: OneStepWork["kind"], input: Expr & { readonly op: "object" }): Graph {
  return {
    format: 1,
    dialect: "uhlp",
    name: `execute-${kind}`,
    input: { declared: [], defaults: {} },
    flow: {
      kind: "machine",
      start: kind,
      steps: [{ id: kind, kind: "task", executor: kind === "jit" ? "code" : "llm", input }],
    },
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  };
}

type InputExpr = Expr & { readonly op: "object" };

function jitInput(details: JsonObject): InputExpr {
  const language = textOf(details, "language") ?? "python";
  const script = textOf(details, "script") ?? textOf(details, "scriptPath");
  const name = textOf(details, "function") ?? textOf(details, "functionName");
  if (!LANGUAGES.includes(language)) throw invalid(`\`language\` must be one of ${LANGUAGES.join(", ")}.`);
  if (script === undefined) throw invalid("`script` is missing.");
  return toObject({ language, script, ...(name === undefined ? {} : { function: name }) }, details);
}

function llmInput(details: JsonObject): InputExpr {
  const prompt = textOf(details, "prompt");
  const promptTemplate = textOf(details, "promptTemplate");
  if ((prompt === undefined) === (promptTemplate === undefined))
    throw invalid("It needs a `prompt` or a `promptTemplate`, and not both.");
  const model = textOf(details, "model");
  const outputFormat = textOf(details, "outputFormat");
  const parameters = objectOf(details, "parameters");
  const outputSchema = objectOf(details, "outputSchema");
  return toObject(
    {
      ...(prompt === undefined ? {} : { prompt }),
      ...(promptTemplate === undefined ? {} : { promptTemplate }),
      ...(model === undefined ? {} : { model }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(outputFormat === undefined ? {} : { outputFormat }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    },
    details,
  );
}

function toObject(fields: JsonObject, details: JsonObject): InputExpr {
  const entries = Object.entries(fields).map(([name, value]): [string, Expr] => [name, { op: "literal", value }]);
  return {
    op: "object",
    entries: Object.fromEntries([...entries, ["input", inputOf(details)], ["context", REQUEST_CONTEXT]]),
  };
}

function inputOf(details: JsonObject): Expr {
  const given = objectOf(details, "params") ?? objectOf(details, "input");
  return given === undefined ? { op: "path", root: "input", path: ["requestData"] } : { op: "literal", value: given };
}

function filesOf({ entries }: InputExpr): readonly NeededFile[] {
  const named = (kind: NeededFile["kind"], expr: Expr | undefined): readonly NeededFile[] =>
    expr?.op === "literal" && typeof expr.value === "string" ? [{ kind, path: expr.value, at: START }] : [];
  return [...named("script", entries["script"]), ...named("prompt", entries["promptTemplate"])];
}

function textOf(details: JsonObject, name: string): string | undefined {
  const value = ownField(details, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`\`${name}\` must be a text.`);
}

function objectOf(details: JsonObject, name: string): JsonObject | undefined {
  const value = ownField(details, name);
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  throw invalid(`\`${name}\` must be an object.`);
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message: `The task cannot be read: ${message}` });
}
