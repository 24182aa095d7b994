import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { ApprovalAnswered } from "../../../core/history/events.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import { isBudgetKey } from "../../../core/interpreter/budget/use-limits.ts";
import type { Json } from "../../../core/json.ts";
import { type Answerer, mayAnswer, nameOf, tellTerms, termsOf } from "../../../core/trust/approvers.ts";
import type { RecordedAnswer } from "../../../ports/executor.ts";
import { SharedAccount } from "../budgets/budget-account.ts";
import type { BudgetLedger } from "../budgets/budget-ledger.ts";
import { readRaise, readUnraised } from "../budgets/explain-account.ts";
import type { LiveRun } from "../live-run.ts";
import { type StoredValue, toStoredValue, type ValueWriter } from "../values/stored-value.ts";

/** An approval, as the person who answers has seen it. */
interface Asked {
  readonly path: string;
  /** The event that asked. Absent: any approval that is open at the path. */
  readonly asked: number | undefined;
}

/** The instance that waits for an answer. Throws `APPROVAL_NOT_OPEN`, or `APPROVAL_CONFLICT` with who was first. */
function openApproval(state: RunState, { path, asked }: Asked): Instance {
  const instance = state.active.get(path);
  if (instance?.phase === "approval" && (asked ?? instance.askedSeq) === instance.askedSeq) return instance;
  refuseAnswered(state, { path, asked });
  const which = asked === undefined ? "" : ` that event ${asked} asked for`;
  throw new PawlError("APPROVAL_NOT_OPEN", { message: `No approval${which} is open at "${path}".` });
}

export function refuseAnswered(state: RunState, { path, asked }: Asked): void {
  const answers = state.answers.get(path);
  const first = asked === undefined ? answers?.at(-1) : answers?.find(({ askedSeq }) => askedSeq === asked);
  if (first === undefined) return;
  const by = first.by === undefined ? "" : ` by ${first.by}`;
  throw new PawlError("APPROVAL_CONFLICT", { message: `"${path}" was already answered${by}: ${first.answer}.` });
}

export function refuseForbiddenEdit({ path, question, step: { step } }: Instance): void {
  if (step.kind === "approve" ? step.allowEdit === true : question?.allowEdit === true) return;
  throw new PawlError("APPROVAL_EDIT_REFUSED", { message: `The approval "${path}" does not allow edits.` });
}

/** As `openApproval`, for one who may answer so. Throws `APPROVER_REFUSED` with who may. */
export function openFor(run: LiveRun, asked: Asked, { answer }: RecordedAnswer, who: Answerer | undefined): Instance {
  const instance = openApproval(run.state, asked);
  const terms = termsOf(instance, run.options);
  const isSkipped = answer === "skip" && terms.quorum > 1;
  if (mayAnswer(terms, who) && !isSkipped) return instance;
  const why = isSkipped ? ", and nobody can skip what several must approve" : `, and this is ${nameOf(who)}`;
  throw new PawlError("APPROVER_REFUSED", {
    message: `The approval "${asked.path}" is ${tellTerms({ ...terms, reminded: 0 })}${why}.`,
  });
}

interface StoredAnswer {
  /** The fields of its event. */
  readonly fields: Omit<ApprovalAnswered, "type" | "at" | "path">;
  /** The value that an approval step gets; undefined: what was shown. */
  readonly edited: StoredValue | undefined;
  /** The record that a task finds. */
  readonly whole: StoredValue;
}

/** Stores an answer, with secrets masked. Throws `APPROVAL_EDIT_REFUSED` for data that is larger than an output may be. */
export async function storeAnswer(answer: RecordedAnswer, writer: ValueWriter): Promise<StoredAnswer> {
  const { edited } = answer;
  const whole = await toStoredValue(answer, writer);
  const part = edited === undefined ? undefined : await toStoredValue(edited, writer);
  if (whole === "too large" || part === "too large")
    throw new PawlError("APPROVAL_EDIT_REFUSED", { message: "The edited data is too large." });
  const { by, comment } = answer;
  const fields = {
    answer: answer.answer,
    ...(by === undefined ? {} : { by: writer.mask(by) }),
    ...(comment === undefined ? {} : { comment: writer.mask(comment) }),
    ...(edited === undefined ? {} : { edited: true }),
  };
  return { fields, edited: part, whole };
}

/**
 * Records an answer. If it approves a question about a limit, the limit is raised first. False: the same person has approved it
 * already, and counts once.
 */
export function recordAnswer(run: LiveRun, asked: Asked, { answer, who, stored, at, ledger }: RecordedAt): boolean {
  const instance = openFor(run, asked, answer, who);
  const { path, question } = instance;
  const identity = who && { who: { name: who.name, ...(who.key === undefined ? {} : { key: who.key }) } };
  const { quorum, approvedBy } = termsOf(instance, run.options);
  if (answer.answer === "approve" && approvedBy.includes(nameOf(who))) return false;
  if (answer.answer === "approve" && approvedBy.length + 1 < quorum) {
    const { answer: _, edited: __, ...said } = stored.fields;
    run.apply({ type: "approvalCounted", at, path, ...said, ...identity });
    return true;
  }
  if (question !== undefined && answer.answer === "approve")
    raiseLimit(run, ledger, { instance, key: question.key, at, edited: answer.edited });
  const value = question === undefined ? stored.edited : stored.whole;
  const seq = run.apply({ type: "approvalAnswered", at, path, ...stored.fields, ...identity }, value?.stored);
  if (value !== undefined) run.values.keep(seq, value.value, value.bytes);
  return true;
}

interface RecordedAt {
  readonly answer: RecordedAnswer;
  readonly who: Answerer | undefined;
  readonly stored: StoredAnswer;
  readonly at: number;
  readonly ledger: BudgetLedger;
}

interface Raise {
  readonly instance: Instance;
  readonly key: string;
  readonly at: number;
  /** The amounts that a person has written. Absent: those of the question. */
  readonly edited: Json | undefined;
}

/**
 * Raises the limit that a person has allowed to be raised, before the answer is recorded. The raise has an id made of its
 * question, so that an answer raises once, however often it is given. Throws `APPROVAL_EDIT_REFUSED`.
 */
function raiseLimit(run: LiveRun, ledger: BudgetLedger, { instance, key, at, edited }: Raise): void {
  if (!isBudgetKey(key)) return;
  const [, budget = "", , asked = "", day = ""] = key.split(" ");
  const account = ledger.accountFor(run, budget);
  const wanted = edited === undefined ? undefined : readRaise(edited);
  if (account === undefined) return;
  // A question about an earlier day raises nothing: the new day has its own limits.
  const by = () => wanted ?? (account.day === day ? readUnraised(account, asked) : {});
  const id = `${run.runId} ${instance.path} ${instance.askedSeq}`;
  if (budget === "run") run.apply({ type: "limitRaised", at, id, by: by() });
  else if (account instanceof SharedAccount) ledger.raise(id, { account, by });
}
