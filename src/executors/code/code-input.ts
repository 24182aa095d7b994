import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

export type Language = "python" | "javascript" | "typescript";

/** The input of the code executor: `Task.input`. */
export interface CodeInput {
  readonly language: Language;
  /** Relative to the application's folder. */
  readonly script: string;
  readonly function?: string;
  readonly network: boolean;
  readonly limits: CodeLimits;
  readonly input: Json;
}

/** The limits that a step asks for; it never gets more than is configured. */
interface CodeLimits {
  readonly memoryBytes?: number;
  readonly maxOutputBytes?: number;
  readonly maxProcesses?: number;
}

const LANGUAGES: readonly Language[] = ["python", "javascript", "typescript"];

/** Reads a bound task input. A dialect that binds something else has a defect, so this throws a plain error. */
export function readCodeInput(input: Json): CodeInput {
  if (!isJsonObject(input)) throw new TypeError("a code task needs an object as its input");
  const language = LANGUAGES.find((known) => known === input["language"]);
  if (language === undefined) throw new TypeError("a code task needs a `language`: python, javascript or typescript");
  if (typeof input["script"] !== "string") throw new TypeError("a code task needs a `script` path in its input");
  const name = input["function"];
  return {
    language,
    script: input["script"],
    ...(typeof name === "string" && name !== "" ? { function: name } : {}),
    network: input["network"] === true,
    limits: isJsonObject(input["limits"]) ? readLimits(input["limits"]) : {},
    input: input["input"] ?? null,
  };
}

function readLimits(limits: JsonObject): CodeLimits {
  const names = ["memoryBytes", "maxOutputBytes", "maxProcesses"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = limits[name];
      return typeof value === "number" && value > 0 ? [[name, value]] : [];
    }),
  );
}
