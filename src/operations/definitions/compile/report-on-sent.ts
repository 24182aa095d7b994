import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { CompiledDefinition } from "../../../hosts/compiled-definition.ts";
import { DeadlineThreads } from "../../../schemas/deadline-threads.ts";
import type { TextValidation } from "../workflow-schemas.ts";
import { describeWhole } from "./describe-whole.ts";
import { checkWholeText, type DefinitionReport, reportOnText, type TextOrigin } from "./report-on-text.ts";
import type { CompileAnswer, CompileJob } from "./thread-main.ts";

const MAX_MS = 2_000;
/** A text of this length takes a few milliseconds; the worst that are known take 20. */
const MAX_INLINE_CHARACTERS = 2_000;

const TOO_MANY_PARTS = "The steps of the definition and what they depend on are too many together.";

// A process has these threads once, as it has its event loop once.
const threads = new DeadlineThreads<CompileJob, CompileAnswer>({
  program: new URL("./thread-main.ts", import.meta.url),
  maxMs: MAX_MS,
  toError: (cause) => tooCostly(`The definition could not be compiled within ${MAX_MS / 1_000} s.`, cause),
});

/** `reportOnText`, but a long text that somebody sends keeps no other request waiting. Throws `DEFINITION_TOO_COSTLY`. */
export async function reportOnSent(text: string, origin: TextOrigin): Promise<DefinitionReport> {
  if (!isLongAndSent(text, origin)) return reportOnText(text, origin);
  const { report } = await threads.perform({ kind: "report", text, origin: toData(origin) });
  if (report === undefined) throw tooCostly(TOO_MANY_PARTS);
  return report;
}

/** `checkWholeText` in the same way, as it is told. */
export async function validateSent(text: string, origin: TextOrigin, withGraph = false): Promise<ValidatedText> {
  if (!isLongAndSent(text, origin)) {
    const whole = await checkWholeText(text, origin);
    return { validation: describeWhole(whole, { withGraph }), definitions: whole.definitions };
  }
  const answer = await threads.perform({ kind: "validate", text, origin: toData(origin), withGraph });
  const { validation, definitions } = answer;
  if (validation === undefined || definitions === undefined) throw tooCostly(TOO_MANY_PARTS);
  return { validation, definitions };
}

export interface ValidatedText {
  readonly validation: TextValidation;
  readonly definitions: readonly CompiledDefinition[];
}

/** A text with folders is the operator's own, and one that is fetched with its files cannot be asked for them in a thread. */
function isLongAndSent({ length }: string, { folders, read }: TextOrigin): boolean {
  return length > MAX_INLINE_CHARACTERS && folders.length === 0 && read === undefined;
}

/** All but the functions, which no thread can be given. */
function toData(origin: TextOrigin): CompileJob["origin"] {
  const { grant, source, folders, maxSteps, envAllowed, isLenient, hasInlineAgents, hasChromium, select, around } =
    origin;
  const options = { maxSteps, envAllowed, isLenient, hasInlineAgents, select };
  return {
    grant,
    source,
    folders,
    ...options,
    around: around && { appDir: around.appDir, agentsFile: around.agentsFile, file: around.file },
    canPrint: hasChromium?.() ?? true,
  };
}

function tooCostly(message: string, cause?: unknown): PawlError {
  return new PawlError("DEFINITION_TOO_COSTLY", { message, cause });
}
