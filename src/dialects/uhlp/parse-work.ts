import type { JsonObject } from "../../core/json.ts";
import type { Text } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { flagAt, mapAt, nodeAt, objectAt, textAt, toText } from "./read-node.ts";
import type { CodeBody, Inputs, ModelBody, StepBody } from "./workflow.ts";

export interface StepSource {
  readonly map: YamlMap;
  readonly isFaulty: boolean;
}

const UNREADABLE: StepBody = { type: "unreadable" };

/** What `jit`, `llm` and `mcp` steps do; `target` is a map, or a text that stands for one. */
export function parseWork(type: string | undefined, step: StepSource, context: ParseContext): StepBody {
  switch (type) {
    case "jit":
      return parseCode(step, context) ?? UNREADABLE;
    case "llm":
      return parseModel(step, context) ?? UNREADABLE;
    case "mcp":
      return parseTool(step) ?? UNREADABLE;
    default:
      return UNREADABLE;
  }
}

export function parseInputs(step: YamlMap): Inputs {
  return {
    params: mapAt(step, "params") ?? mapAt(mapAt(step, "target"), "params"),
    mapping: mapAt(step, "inputMapping"),
  };
}

function parseCode({ map }: StepSource, context: ParseContext): CodeBody | undefined {
  const target = mapAt(map, "target");
  const short = textAt(map, "target");
  const [path = "", called] = short === undefined ? [] : splitShort(short.value);
  const script = target === undefined ? short && { value: path, at: short.at } : textAt(target, "script");
  if (script === undefined || !checkPath(script, context)) return undefined;
  const language = languageOf(textAt(target, "language")?.value, script, context);
  const functionName = called ?? textAt(target, "function")?.value;
  const network = flagAt(target, "network");
  const limits = objectAt(target, "limits");
  if (language === undefined) return undefined;
  return {
    type: "jit",
    script,
    language,
    ...(functionName === undefined ? {} : { function: functionName }),
    ...(network === undefined ? {} : { network }),
    ...(limits === undefined ? {} : { limits }),
    input: parseInputs(map),
  };
}

/** `path/file.py#function` and `path/file.py:function`. */
function splitShort(target: string): readonly [path: string, called?: string] {
  const [, path, called] = /^(.+?)[#:]([A-Za-z_$][\w$.]*)$/.exec(target) ?? [];
  return path === undefined || called === undefined ? [target] : [path, called];
}

type Language = CodeBody["language"];

const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ...(["python", "python3", "py"] as const).map((name) => [name, "python"] as const),
  ...(["javascript", "js", "mjs", "cjs", "node", "nodejs"] as const).map((name) => [name, "javascript"] as const),
  ...(["typescript", "ts", "mts", "cts"] as const).map((name) => [name, "typescript"] as const),
]);

function languageOf(named: string | undefined, script: Text, { problems }: ParseContext): Language | undefined {
  const ending = /\.([A-Za-z0-9]+)$/.exec(script.value)?.[1]?.toLowerCase() ?? "";
  const language = LANGUAGES.get(named ?? ending);
  // A language that is not known has been reported with the structure.
  if (language !== undefined || named !== undefined) return language;
  const message = `\`${toExcerpt(script.value)}\` does not tell its language.`;
  const remedy = "Add `language`: python, javascript or typescript; or let the script end in .py, .js or .ts.";
  problems.error({ code: "VALUE_INVALID", at: script.at, message, remedy });
  return undefined;
}

/** Files are those of the application's folder, and none that are hidden: a run keeps their text, and others can read it. */
function checkPath({ value, at }: Text, { problems }: ParseContext): boolean {
  const parts = value.split(/[\\/]/);
  if (/^([\\/]|[A-Za-z]:[\\/])/.test(value) || parts.includes("..")) {
    const message = `\`${toExcerpt(value)}\` leads out of the application's folder.`;
    problems.error({ code: "FILE_OUTSIDE", at, message, remedy: "Write a relative path without `..`." });
    return false;
  }
  const hidden = parts.find((part) => part.startsWith(".") && part !== ".");
  if (hidden === undefined) return true;
  const message = `\`${toExcerpt(hidden)}\` is hidden: such files may hold secrets, which every run would keep.`;
  problems.error({ code: "VALUE_INVALID", at, message, remedy: "Use a path no part of which begins with `.`." });
  return false;
}

function parseModel({ map, isFaulty }: StepSource, context: ParseContext): ModelBody | undefined {
  const target = mapAt(map, "target");
  const short = toText(nodeAt(map, "target"));
  const isFile = short !== undefined && looksLikeFile(short.value);
  const template = isFile ? short : textAt(target, "promptTemplate");
  const prompt = isFile ? undefined : (short ?? textAt(target, "prompt"));
  if (!checkPrompt({ template, prompt, target }, isFaulty, context)) return undefined;
  if (prompt !== undefined) context.prompts.push(prompt);
  return {
    type: "llm",
    ...(template === undefined ? {} : { promptTemplate: template }),
    ...(prompt === undefined ? {} : { prompt: prompt.value }),
    options: parseOptions(target, context),
    input: parseInputs(map),
  };
}

/** One word with an ending that prompts have. Everything else is a prompt. */
function looksLikeFile(target: string): boolean {
  return /^[^\s{}]+\.(ya?ml|json|j2|jinja2?|md|txt|prompt)$/i.test(target);
}

interface PromptSource {
  readonly template: Text | undefined;
  readonly prompt: Text | undefined;
  readonly target: YamlMap | undefined;
}

function checkPrompt({ template, prompt, target }: PromptSource, isFaulty: boolean, context: ParseContext): boolean {
  if (template !== undefined && prompt !== undefined) {
    const message = "The step has both a `promptTemplate` and a `prompt`.";
    context.problems.error({ code: "VALUE_INVALID", at: prompt.at, message, remedy: "Keep one of them." });
    return false;
  }
  if (template !== undefined) return checkPath(template, context);
  if (prompt === undefined && target !== undefined && !isFaulty) {
    const message = "The `target` has no prompt.";
    context.problems.error({ code: "KEY_MISSING", at: target, message, remedy: "Add `promptTemplate` or `prompt`." });
  }
  return prompt !== undefined;
}

function parseOptions(target: YamlMap | undefined, { schemas }: ParseContext): JsonObject {
  const model = textAt(target, "model");
  const parameters = objectAt(target, "parameters");
  const outputFormat = textAt(target, "outputFormat");
  const outputSchema = objectAt(target, "outputSchema");
  const at = mapAt(target, "outputSchema");
  if (at !== undefined && outputSchema !== undefined) schemas.push({ key: "outputSchema", at, schema: outputSchema });
  return {
    ...(model === undefined ? {} : { model: model.value }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(outputFormat === undefined ? {} : { outputFormat: outputFormat.value }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

function parseTool({ map }: StepSource): StepBody | undefined {
  const target = mapAt(map, "target");
  const tool = textAt(map, "target") ?? textAt(target, "tool");
  const server = textAt(target, "server");
  if (tool === undefined) return undefined;
  return {
    type: "mcp",
    tool: tool.value,
    ...(server === undefined ? {} : { server: server.value }),
    input: parseInputs(map),
  };
}
