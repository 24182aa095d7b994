import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { ToolCallPart } from "../../models/turn-parts.ts";

/** A person's answer to a call that needs approval. */
export type Approval =
  | { readonly kind: "notAsked" }
  /** `edited`: the person has put other arguments in the place of the model's. */
  | { readonly kind: "go"; readonly edited?: JsonObject }
  /** The text that the model gets instead of a result. */
  | { readonly kind: "no"; readonly told: string };

/** Reads an answer that is on record. */
export function readApproval(record: Json | undefined, { input }: ToolCallPart): Approval {
  if (!isJsonObject(record)) return { kind: "notAsked" };
  const { answer, comment, edited } = record;
  const said = typeof comment === "string" && comment !== "" ? ` They say: ${comment}` : "";
  if (answer === "skip") return { kind: "no", told: `A person has skipped this call: it was not done.${said}` };
  if (answer !== "approve") return { kind: "no", told: `A person has not allowed this call: it was not done.${said}` };
  if (edited === undefined || writeExact(edited) === writeExact(input)) return { kind: "go" };
  return isJsonObject(edited)
    ? { kind: "go", edited }
    : {
        kind: "no",
        told: "A person has put something in the place of the arguments that is no object: nothing was done.",
      };
}
