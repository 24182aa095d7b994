import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson, readJson } from "../../../core/parse-json.ts";
import { mayAnswer, nameOf } from "../../../core/trust/approvers.ts";
import type { Driving, Principal, Stores } from "../../../operations/application/ports.ts";
import { whoAsks } from "../../../operations/application/who-asks.ts";
import { type Answer, answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import { listApprovals } from "../../../operations/approvals/describe-run-approvals.ts";
import { type Asking, Question } from "../question.ts";

/** Under which the answers to questions come back. */
const INPUT = "input";
const APPROVAL = "approval";

/** Marks a field that a form cannot show as what it is. */
const AS_JSON = " (JSON)";

/** Asks for what the workflow needs and was not given, once. Undefined: the error is another one, or nobody can be asked. */
export function askForMissing(error: unknown, asking: Asking | undefined): Question | undefined {
  if (asking === undefined || asking.answerTo(INPUT) !== undefined) return undefined;
  if (!isPawlError(error) || error.code !== "INPUT_INVALID") return undefined;
  const { missing = [] } = asObject(error.details);
  const fields = (Array.isArray(missing) ? missing : []).map((each: Json) => toField(asObject(each)));
  if (fields.length === 0) return undefined;
  return new Question({
    key: INPUT,
    message: "The workflow needs more to begin.",
    schema: { type: "object", properties: Object.fromEntries(fields), required: fields.map(([name]) => name) },
  });
}

const FORM_TYPES: readonly Json[] = ["string", "number", "integer", "boolean"];
const FORM_PARTS = ["type", "title", "description", "enum", "default", "minimum", "maximum", "minLength", "maxLength"];

function toField({ name, schema }: JsonObject): [string, JsonObject] {
  const given = asObject(schema);
  if (FORM_TYPES.includes(given["type"] ?? null))
    return [String(name), Object.fromEntries(Object.entries(given).filter(([part]) => FORM_PARTS.includes(part)))];
  const { description } = given;
  return [`${name}${AS_JSON}`, { type: "string", ...(typeof description === "string" ? { description } : {}) }];
}

/** The input of a call with what the person has added to it. What was given stays. */
export function withAnswers(given: Json | undefined, asking: Asking | undefined): Json | undefined {
  const answers = asking?.answerTo(INPUT);
  if (!isJsonObject(answers)) return given;
  const added = Object.entries(answers).map(([name, value]): [string, Json] => {
    if (!name.endsWith(AS_JSON)) return [name, value];
    const read = typeof value === "string" ? readJson(value) : undefined;
    return [name.slice(0, -AS_JSON.length), read?.ok === true ? read.value : value];
  });
  return { ...Object.fromEntries(added), ...asObject(given) };
}

const MOST_SHOWN = 4_000;

/** Asks what the run asks: for an approval, or for more than its budget. Undefined: it asks nothing, or nobody can be asked. */
export async function askForApproval(
  app: Principal & Stores,
  runId: string,
  asking: Asking | undefined,
): Promise<Question | undefined> {
  if (asking === undefined) return undefined;
  const { record } = await findApproval(app, `${runId}:`);
  const who = whoAsks(app);
  const open = (await listApprovals(await app.records(), record)).find(
    ({ approvers, not_by: notBy, approved_by: before }) =>
      mayAnswer({ approvers, notBy }, who) && !before.includes(nameOf(who)),
  );
  if (open === undefined) return undefined;
  const shown = open.shown === null ? "" : `\n\n${writeExact(open.shown, 2)}`;
  const text = `${open.workflow_name}: ${open.message}${open.terms === null ? "" : `\n(${open.terms})`}${shown}`;
  return new Question({
    key: APPROVAL,
    state: open.approval_id,
    message: text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text,
    schema: {
      type: "object",
      properties: {
        answer: { type: "string", enum: ["approve", "reject", "skip"] },
        comment: { type: "string", description: "Recorded with the answer." },
        ...(open.allow_edit ? { edited: { type: "string", description: describeEdit(open.schema) } } : {}),
      },
      required: ["answer"],
    },
  });
}

function describeEdit(schema: JsonObject | null): string {
  if (schema === null) return "JSON in place of what is shown.";
  return `JSON in place of what is shown, which must fit ${writeExact(schema).slice(0, MOST_SHOWN)}`;
}

export interface TakenAnswer {
  readonly runId: string;
  /** The person did not answer: the question stays open. */
  readonly isLeft: boolean;
}

/**
 * Takes the answer that comes with a call. Undefined: it is a call of its own. An answer that comes too late changes nothing, and is
 * no error: the run says what was answered. Whoever may make the call may answer the run too, so its state proves nothing.
 */
export async function takeAnswer(
  app: Principal & Stores & Driving,
  asking: Asking | undefined,
): Promise<TakenAnswer | undefined> {
  if (asking?.state === undefined) return undefined;
  const approval = await findApproval(app, asking.state);
  const runId = approval.record.id;
  const answer = readAnswer(asking.answerTo(APPROVAL));
  if (answer === undefined) return { runId, isLeft: true };
  try {
    await answerApproval(app, approval, answer);
  } catch (error) {
    if (!isPawlError(error) || !TOO_LATE.has(error.code)) throw error;
  }
  return { runId, isLeft: false };
}

const TOO_LATE: ReadonlySet<string> = new Set(["APPROVAL_CONFLICT", "APPROVAL_NOT_OPEN", "RUN_FINISHED"]);

function readAnswer(given: JsonObject | null | undefined): Answer | undefined {
  const { answer, comment, edited } = given ?? {};
  if (answer !== "approve" && answer !== "reject" && answer !== "skip") return undefined;
  const isEdited = typeof edited === "string" && edited.trim() !== "";
  return {
    answer,
    by: "mcp",
    ...(typeof comment === "string" && comment !== "" ? { comment } : {}),
    ...(isEdited ? { edited: parseJson(edited) ?? edited } : {}),
  };
}
