import type { Failed } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import type { Model } from "./create-models.ts";

/** Refused before anything is paid: what a model costs that has no price cannot be held against a budget. */
export function toUnpriced({ id }: Model): Failed {
  const message = `The model ${id} has no known price, so a budget cannot hold.`;
  const remedy = `Set \`models.prices\` for "${id}", or run without a budget.`;
  return toFailed("PRICE_UNKNOWN", { message: `${message} ${remedy}`, retryable: false, effect: "none" });
}
