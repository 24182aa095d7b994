import { z } from "zod";
import type { Json } from "../../core/json.ts";

/**
 * How a script is called. A `program` gets the function's name as its first argument and JSON on standard input, and
 * writes JSON to standard output. A `function` is called with the input and returns its result; without a name it is
 * the default export.
 */
export type Convention = { readonly kind: "program" } | { readonly kind: "function"; readonly name: string };

/** The name that stands for a default export. */
const DEFAULT_EXPORT = "default";

/** Decides by the script's text, without comments: reading standard input means program, defining the function means function, else program. */
export function chooseConvention(language: Language, text: string, name: string | undefined): Convention {
  const code = withoutCommentLines(language, text);
  const isPython = language === "python";
  if ((isPython ? PYTHON_READS_INPUT : JAVASCRIPT_READS_INPUT).test(code)) return { kind: "program" };
  const wanted = name ?? (isPython ? "main" : DEFAULT_EXPORT);
  const isDefined = isPython ? definesInPython(code, wanted) : exportsInJavaScript(code, wanted);
  return isDefined ? { kind: "function", name: wanted } : { kind: "program" };
}

const PYTHON_READS_INPUT =
  /\bsys\s*\.\s*stdin\b|\bfrom\s+sys\s+import\b[^\n]*\bstdin\b|\bfileinput\b|(?<![\w.])input\s*\(\s*\)|\bopen\(\s*0\b|["']\/dev\/stdin["']/;

const JAVASCRIPT_READS_INPUT =
  /\bprocess\s*\.\s*stdin\b|\bstdin\b[^\n]*\bfrom\s+["'](?:node:)?process["']|\breadFileSync\(\s*0\b|["']\/dev\/stdin["']/;

function definesInPython(code: string, name: string): boolean {
  if (!/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) return false;
  return new RegExp(
    `^(?:(?:async\\s+)?def\\s+${name}\\s*\\(|class\\s+${name}\\b|${name}\\s*(?::[^=\\n]+)?=[^=])`,
    "mu",
  ).test(code);
}

function exportsInJavaScript(code: string, name: string): boolean {
  if (!/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name)) return false;
  const word = name.replaceAll("$", "\\$");
  const edge = "(?![\\p{ID_Continue}$])";
  const forms = [
    `(?:^|;)\\s*export\\s+(?:async\\s+)?function\\s*\\*?\\s*${word}${edge}`,
    `(?:^|;)\\s*export\\s+(?:const|let|var|class)\\s+${word}${edge}`,
    `(?:^|;)\\s*export\\s*\\{[^}]*(?<![\\p{ID_Continue}$])${word}${edge}\\s*(?:,|\\})`,
    `\\bexports\\.${word}\\s*=[^=]`,
    `\\bmodule\\.exports\\s*=\\s*\\{[^}]*(?<![\\p{ID_Continue}$])${word}${edge}`,
    ...(name === DEFAULT_EXPORT ? ["(?:^|;)\\s*export\\s+default\\b", "\\bmodule\\.exports\\s*=[^=]"] : []),
  ];
  return forms.some((form) => new RegExp(form, "mu").test(code));
}

function withoutCommentLines(language: Language, text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.filter((line) => !(language === "python" ? /^\s*#/ : /^\s*(?:\/\/|\/\*|\*)/).test(line)).join("\n");
}

const limit = z.number().positive().optional().catch(undefined);

const INPUT = z.object(
  {
    language: z.enum(
      ["python", "javascript", "typescript"],
      "a code task needs a `language`: python, javascript or typescript",
    ),
    /** Relative to the application's folder. */
    script: z.string("a code task needs a `script` path in its input"),
    function: z.string().min(1).optional().catch(undefined),
    network: z.boolean().catch(false),
    /** The limits that a step asks for; it never gets more than is configured. */
    limits: z.object({ memoryBytes: limit, maxOutputBytes: limit, maxProcesses: limit }).catch({}),
    input: z.custom<Json>().default(null),
  },
  "a code task needs an object as its input",
);

export type CodeInput = Readonly<z.infer<typeof INPUT>>;
export type Language = CodeInput["language"];

/** Reads a bound task input. A dialect that binds something else has a defect, so this throws a plain error. */
export function readCodeInput(input: Json): CodeInput {
  return INPUT.parse(input);
}
