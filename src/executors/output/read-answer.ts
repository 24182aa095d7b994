import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { jsonInText } from "./json-in-text.ts";
import { removeFence } from "./markdown-fence.ts";
import { describeViolations, type SchemaViolation, type Validate } from "./schema-validators.ts";

/** An agent's answer before it is read. */
export interface RawAnswer {
  readonly text: string;
  /** `undefined`: none was sent. `null`, `0` and `[]` are answers. */
  readonly structured: Json | undefined;
}

export type Answer =
  | { readonly ok: true; readonly output: Json }
  | {
      readonly ok: false;
      readonly code: ErrorCode & ("OUTPUT_EMPTY" | "OUTPUT_INVALID");
      readonly message: string;
      readonly details: Json;
      /** Absent: the answer is empty. */
      readonly violations?: readonly SchemaViolation[];
    };

const MAX_SHOWN_CHARS = 2_000;
const MAX_SHOWN_VIOLATIONS = 3;

/**
 * Turns an agent's words into the step's output. A structured answer counts because it is there, not because it is
 * truthy. With a schema the output fits it; without one, text that holds an object or a list becomes that value.
 */
export function readAnswer(answer: RawAnswer, validate: Validate | undefined): Answer {
  if (answer.structured === undefined && removeFence(answer.text) === "") {
    return { ok: false, code: "OUTPUT_EMPTY", message: "The agent's answer was empty.", details: {} };
  }
  if (validate === undefined) return { ok: true, output: answer.structured ?? readLoosely(answer) };
  if (answer.structured !== undefined) return check([answer.structured], answer, validate);
  return check(jsonInText(answer.text), answer, validate);
}

function readLoosely(answer: RawAnswer): Json {
  if (answer.structured === null) return null;
  const text = removeFence(answer.text);
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? value : text;
}

/** Takes the first candidate that fits. A schema may also ask for plain text, so the text itself comes last. */
function check(candidates: Iterable<Json>, answer: RawAnswer, validate: Validate): Answer {
  let violations: readonly SchemaViolation[] | undefined;
  for (const candidate of candidates) {
    const found = validate(candidate);
    if (found.length === 0) return { ok: true, output: candidate };
    violations ??= found;
  }
  const text = removeFence(answer.text);
  if (answer.structured === undefined && validate(text).length === 0) return { ok: true, output: text };
  return toInvalid(answer, violations ?? [{ path: "", message: "holds no JSON" }]);
}

function toInvalid(answer: RawAnswer, violations: readonly SchemaViolation[]): Answer {
  const shown = describeViolations(violations.slice(0, MAX_SHOWN_VIOLATIONS), "the answer");
  const said = answer.structured === undefined ? answer.text : JSON.stringify(answer.structured);
  return {
    ok: false,
    code: "OUTPUT_INVALID",
    violations,
    message: `The agent's answer does not fit the output schema: ${shown}.`,
    details: {
      errors: violations.map(({ path, message }) => ({ path, message })),
      answer: said.slice(0, MAX_SHOWN_CHARS),
    },
  };
}
