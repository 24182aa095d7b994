import { SHOWN_AMOUNTS, writeMicro } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isBudgetKey } from "../../core/interpreter/budget/use-limits.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import type { ApprovalAnswer } from "../../hosts/run-host.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Driving, Principal, Stores } from "../application/ports.ts";
import { whoAsks } from "../application/who-asks.ts";
import { listApprovals, type OpenApproval } from "./describe-run-approvals.ts";
import { placeOf } from "./place-of.ts";

export type Answer = ApprovalAnswer;

export interface AddressedApproval {
  readonly record: RunRecord;
  readonly path: string;
  /** The event that asked: a task may ask again at its path, and nobody is to approve what they have not seen. */
  readonly asked?: number;
}

/**
 * The approval that `RUN`, `RUN:PATH` or `RUN:PATH@ASKED` means; without a path the only one that is open. Throws
 * `RUN_FINISHED`, `APPROVAL_NOT_OPEN` and, where several are open, `USAGE` with their addresses.
 */
export async function findApproval(app: Stores, address: string): Promise<AddressedApproval> {
  const colon = address.indexOf(":");
  const record = await findRun(app, colon === -1 ? address : address.slice(0, colon));
  // Also where the run has ended: whether somebody else was first the host knows.
  if (colon !== -1) return { record, ...toPlace(address.slice(colon + 1)) };
  if (record.completedAt !== undefined)
    throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
  const open = await listApprovals(await app.records(), record);
  const [only] = open;
  if (only === undefined)
    throw new PawlError("APPROVAL_NOT_OPEN", { message: `The run ${record.id} has no open approval.` });
  if (open.length === 1) return { record, path: only.path, asked: only.asked };
  throw new PawlError("USAGE", {
    message: `The run has ${open.length} open approvals.`,
    remedy: `Name one of them: ${open.map((one) => `${record.id.slice(0, 13)}:${placeOf(one)}`).join(", ")}.`,
    details: { paths: open.map(({ path }) => path) },
  });
}

/** Throws as `findApproval`, and `APPROVAL_NOT_OPEN`. */
export async function findOpenApproval(app: Stores, address: string): Promise<OpenApproval> {
  const approval = await findApproval(app, address);
  const open = await findOpen(app, approval);
  if (open !== undefined) return open;
  throw new PawlError("APPROVAL_NOT_OPEN", { message: `No approval is open at "${approval.path}".` });
}

/** An `@` of an id is escaped in its path. */
function toPlace(place: string): { readonly path: string; readonly asked?: number } {
  const [, path, asked] = /^([^@]*)@(\d{1,15})$/.exec(place) ?? [];
  return path === undefined ? { path: place } : { path, asked: Number(asked) };
}

/**
 * How many more must approve. Throws `APPROVAL_CONFLICT` with who was first, `APPROVAL_NOT_OPEN`, `APPROVER_REFUSED`,
 * `APPROVAL_EDIT_REFUSED`, `RUN_FINISHED`.
 */
export async function answerApproval(
  app: Principal & Stores & Driving,
  approval: AddressedApproval,
  answer: Answer,
): Promise<number> {
  const { record, path, asked } = approval;
  const open = await findOpen(app, approval);
  // Whether it is open at all is the host's to say: it is the one who knows.
  if (answer.answer === "approve" && open !== undefined) refuseRaise(open, answer.edited, app.maxRunCostMicro);
  if (open !== undefined) await checkEdit(open, answer);
  const host = await app.host();
  await host.request(record.id, { type: "answer", path, answer: { who: whoAsks(app), ...answer, asked } });
  const left = (open?.quorum ?? 1) > 1 ? await findOpen(app, { record, path, asked: open?.asked }) : undefined;
  return left === undefined ? 0 : left.quorum - left.approved_by.length;
}

async function findOpen(
  app: Stores,
  { record, path, asked }: Omit<AddressedApproval, "asked"> & { readonly asked?: number | undefined },
): Promise<OpenApproval | undefined> {
  return (await listApprovals(await app.records(), record)).find(
    (approval) => approval.path === path && (asked ?? approval.asked) === approval.asked,
  );
}

/** A key with a limit lets no run cost more than that, whoever asks it to raise the run's own. */
function refuseRaise({ key, shown }: OpenApproval, edited: Json | undefined, mostMicro: number | undefined): void {
  if (mostMicro === undefined || key === null || !isBudgetKey(key) || !isJsonObject(shown)) return;
  const [limit = 0, by = 0] = [shown["limit"], edited ?? shown["raise_by"]].map(costIn);
  if (by === 0 || limit + by <= mostMicro) return;
  throw new PawlError("FORBIDDEN", {
    message: `The limit would be ${writeMicro(limit + by)}, and the key allows a run ${writeMicro(mostMicro)}.`,
    remedy: "Answer with a key that has no lower limit, or raise by less.",
  });
}

function costIn(amounts: Json | undefined): number {
  const given = isJsonObject(amounts) && isJsonObject(amounts["raise_by"]) ? amounts["raise_by"] : amounts;
  const usd = isJsonObject(given) ? given[SHOWN_AMOUNTS.cost.of] : undefined;
  return typeof usd === "number" ? usd * SHOWN_AMOUNTS.cost.unit : 0;
}

async function checkEdit(open: OpenApproval, { answer, edited }: Answer): Promise<void> {
  if (edited !== undefined && !open.allow_edit)
    throw new PawlError("APPROVAL_EDIT_REFUSED", { message: `The approval "${open.path}" does not take edited data.` });
  // A form is filled in, and what is shown may lack something.
  const isForm = open.schema !== null && answer === "approve";
  if (edited === undefined && !isForm) return;
  const reason = await explainEdit(open, edited ?? open.shown);
  if (reason === undefined) return;
  const what = edited === undefined ? "What is shown is not enough" : "The edited data does not fit";
  throw new PawlError("APPROVAL_EDIT_REFUSED", { message: `${what}: ${reason}.` });
}

async function explainEdit({ schema }: OpenApproval, edited: Json) {
  if (schema === null) return undefined;
  const { JsonSchemas } = await import("../../schemas/json-schemas.ts");
  return new JsonSchemas().explainMismatch(schema, edited);
}
