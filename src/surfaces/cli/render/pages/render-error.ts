import type { ErrorDescription } from "../../../../operations/runs/run-schemas.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";

/** How every command ends that ends with an error. */
export function renderError({ code, message, remedy }: ErrorDescription, paint: Paint): string {
  const lines = [`${paint("red", `error ${sanitize(code)}`)} ${sanitize(message)}`];
  if (remedy !== "") lines.push(`${paint("dim", "  remedy:")} ${sanitize(remedy)}`);
  return lines.join("\n");
}
