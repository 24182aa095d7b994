import { isMap, isSeq, parseDocument } from "yaml";

/** The text of a definition with another prompt in one of its steps. Undefined: it has no such step. */
export function replacePrompt(text: string, step: string, prompt: string): string | undefined {
  const document = parseDocument(text, { intAsBigInt: true });
  const steps = document.get("steps");
  if (!isSeq(steps)) return undefined;
  const found = steps.items.find((item) => isMap(item) && String(item.get("id")) === step);
  if (!isMap(found)) return undefined;
  found.set("prompt", prompt);
  return document.toString({ lineWidth: 0 });
}
