import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { renderCodeFrame, renderProblem } from "../../dialects/render-problem.ts";
import { parsePromptTemplate } from "../../dialects/uhlp/prompts/prompt-template.ts";
import type { Place, Ports } from "../application/ports.ts";
import { findDefinition } from "../definitions/find-definition.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { onlyStep } from "./only-step.ts";

export interface PromptRequest {
  /** A prompt file, or `WORKFLOW:STEP`. */
  readonly reference: string;
  /** The folder that paths are relative to. */
  readonly folder: string;
  readonly input: JsonObject;
}

export interface RenderedPrompt {
  readonly text: string;
  /** The settings beside the template: model, parameters, form of the answer. */
  readonly settings: JsonObject;
}

/**
 * Renders what a model would be asked, without asking. The values given are those that the step's `inputMapping` would make. Throws
 * `PROMPT_INVALID` with the lines around the place, and what finding the file or the workflow throws.
 */
export async function renderPrompt(
  app: Pick<Ports, "appDir" | "config" | "prompts">,
  request: PromptRequest,
): Promise<RenderedPrompt> {
  const { template, settings } = await findPrompt(app, request);
  try {
    const isStrict = settings["strict"] === true;
    return { text: await (await app.prompts()).render(template, request.input, { isStrict }), settings };
  } catch (error) {
    throw withFrame(error, template);
  }
}

interface FoundPrompt {
  readonly template: string;
  readonly settings: JsonObject;
}

async function findPrompt(
  app: Pick<Place, "appDir" | "config">,
  { reference, folder }: PromptRequest,
): Promise<FoundPrompt> {
  const file = resolve(folder, reference);
  if (existsSync(file)) return readPromptFile(reference, await readTextFile(file));
  const colon = reference.lastIndexOf(":");
  if (colon <= 0) throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${reference}`, remedy: WAYS });
  const maxSteps = app.config.settings.uhlp.max_steps;
  const places = { folders: [folder], appDir: app.appDir, maxSteps };
  const { definition } = await findDefinition(reference.slice(0, colon), places);
  const { graph } = onlyStep(definition, reference.slice(colon + 1));
  const [step] = graph.flow.steps;
  if (step?.kind !== "task" || step.executor !== "llm")
    throw new PawlError("NOT_SUPPORTED", { message: `${reference} is no \`llm\` step.`, remedy: WAYS });
  return readStepPrompt(literalsOf(step.input), graph.settings);
}

const WAYS = "Give a prompt file, or WORKFLOW:STEP with a step that asks a model.";

async function readPromptFile(file: string, text: string): Promise<FoundPrompt> {
  const { template, problems } = await parsePromptTemplate({ text, file });
  if (template !== undefined) {
    const { template: words, ...settings } = template;
    return { template: words, settings };
  }
  throw new PawlError("DEFINITION_INVALID", {
    message: `${file} is no prompt that can be rendered.`,
    remedy: WAYS,
    details: { problems: problems.map((problem) => ({ code: problem.code, rendered: renderProblem(problem, text) })) },
  });
}

/** Settings of the step go before those of its prompt file. */
function readStepPrompt(step: JsonObject, graphSettings: JsonObject): FoundPrompt {
  const { prompt, promptTemplate, ...own } = step;
  const files = graphSettings["prompts"];
  const path = typeof promptTemplate === "string" ? promptTemplate : "";
  const file = isJsonObject(files) && Object.hasOwn(files, path) ? files[path] : undefined;
  if (!isJsonObject(file)) return { template: String(prompt ?? ""), settings: own };
  const { template, ...settings } = file;
  return { template: String(template), settings: { ...settings, ...own } };
}

/** The prompt that is written in the step itself, with the given values. */
function literalsOf(input: Expr): JsonObject {
  if (input.op === "literal") return isJsonObject(input.value) ? input.value : {};
  if (input.op !== "object") return {};
  const literals = Object.entries(input.entries).flatMap(([name, expr]): [string, Json][] => {
    return expr.op === "literal" && name !== "input" ? [[name, expr.value]] : [];
  });
  return Object.fromEntries(literals);
}

function withFrame(error: unknown, template: string): unknown {
  if (!isPawlError(error) || error.code !== "PROMPT_INVALID" || !isJsonObject(error.details)) return error;
  const { line, column, variable } = error.details;
  if (typeof line !== "number" || typeof column !== "number") return error;
  const { code, message, remedy, details, cause } = error;
  const end = typeof variable === "string" ? { endLine: line, endColumn: column + variable.length } : {};
  const rendered = renderCodeFrame(template, { line, column, ...end });
  return new PawlError(code, { message, remedy, cause, details: { ...details, problems: [{ code, rendered }] } });
}
