import type { JsonObject } from "../../core/json.ts";
import type { Language } from "../definition.ts";
import { optional } from "../shape/fields.ts";
import { object, type Spelling } from "../shape/object.ts";
import { integer, text } from "../shape/scalars.ts";
import { type Reader, type Shape, seldom, type Text, to } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";

export const LANGUAGE_NAMES = [
  ...["python", "python3", "py"],
  ...["javascript", "js", "node", "nodejs"],
  ...["typescript", "ts"],
] as const;

const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ...(["python", "python3", "py"] as const).map((name) => [name, "python"] as const),
  ...(["javascript", "js", "mjs", "cjs", "node", "nodejs"] as const).map((name) => [name, "javascript"] as const),
  ...(["typescript", "ts", "mts", "cts"] as const).map((name) => [name, "typescript"] as const),
]);

export const functionName = text({ pattern: "^[A-Za-z_$][A-Za-z0-9_$.]{0,199}$", examples: ["validate"] });

export const sandboxLimits = (spell: Spelling) =>
  optional(
    seldom(() => limitsOf(spell)),
    "Limits of the sandbox.",
    { otherwise: "those of the configuration" },
  );

function limitsOf(spell: Spelling): Shape<JsonObject> {
  const limits = object({
    memoryBytes: optional(integer(1), "Memory, in bytes."),
    maxOutputBytes: optional(integer(1), "How much it may print or return, in bytes."),
    maxProcesses: optional(integer(1), "Processes and threads at once."),
  });
  return to(spell(limits), ({ at: _, rest: _rest, ...read }) => {
    const entries = Object.entries(read).filter((entry): entry is [string, number] => entry[1] !== undefined);
    return Object.fromEntries(entries);
  });
}

export interface WrittenScript {
  readonly script: Text;
  readonly language?: string | undefined;
  readonly function?: Text | undefined;
}

export interface Script {
  readonly script: Text;
  readonly language: Language;
  readonly function: Text | undefined;
}

/** `path/file.py#function` and `path/file.py:function` name a function, too. */
export function splitScript(script: Text): Pick<WrittenScript, "script" | "function"> {
  const { value, at } = script;
  const [, path, called] = /^(.+?)[#:]([A-Za-z_$][\w$.]*)$/.exec(value) ?? [];
  if (path === undefined || called === undefined) return { script };
  return { script: { value: path, at }, function: { value: called, at } };
}

/** Undefined: the path or the language is wrong, which is reported. */
export function readScript(
  { script, language: named, function: called }: WrittenScript,
  { problems }: Reader,
): Script | undefined {
  if (!checkPath(script, problems)) return undefined;
  const language = named === undefined ? languageOf(script, problems) : LANGUAGES.get(named);
  return language && { script, language, function: called };
}

function languageOf(script: Text, problems: Reader["problems"]): Language | undefined {
  const ending = /\.([A-Za-z0-9]+)$/.exec(script.value)?.[1]?.toLowerCase() ?? "";
  const language = LANGUAGES.get(ending);
  if (language !== undefined) return language;
  const message = `\`${toExcerpt(script.value)}\` does not tell its language.`;
  const remedy = "Add `language`: python, javascript or typescript; or let the script end in .py, .js or .ts.";
  problems.error({ code: "VALUE_INVALID", at: script.at, message, remedy });
  return undefined;
}

/** Files are those of the application's folder, and none that are hidden: a run keeps their text, and others can read it. */
export function checkPath({ value, at }: Text, problems: Reader["problems"]): boolean {
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
