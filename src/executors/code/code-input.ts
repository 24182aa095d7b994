import { z } from "zod";
import type { Json } from "../../core/json.ts";

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

/** The input of the code executor: `Task.input`. */
export type CodeInput = Readonly<z.infer<typeof INPUT>>;
export type Language = CodeInput["language"];

/** Reads a bound task input. A dialect that binds something else has a defect, so this throws a plain error. */
export function readCodeInput(input: Json): CodeInput {
  return INPUT.parse(input);
}
