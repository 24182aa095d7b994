import type { Json } from "../json.ts";

/** How a value stands in a text: strings as they are, everything else as JSON with a blank after `:` and `,`. */
export function toText(value: Json): string {
  return typeof value === "string" ? value : writeJson(value, " ");
}

/** JSON without recursion: a value may be nested more deeply than the stack. `blank` stands after `:` and `,`. */
export function writeJson(value: Json, blank: "" | " "): string {
  let text = "";
  // What is still to be written, last first: texts as they are, values in a box.
  const pending: (string | { readonly value: Json })[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") text += next;
    else if (next.value === null || typeof next.value !== "object") text += JSON.stringify(next.value);
    else if (Array.isArray(next.value))
      pushParts(
        pending,
        next.value.map((item: Json) => ["", item]),
        "[]",
        blank,
      );
    else {
      const parts = Object.entries(next.value).map(([name, item]): Part => [`${JSON.stringify(name)}:${blank}`, item]);
      pushParts(pending, parts, "{}", blank);
    }
  }
  return text;
}

type Part = readonly [before: string, value: Json];

function pushParts(
  pending: (string | { readonly value: Json })[],
  parts: readonly Part[],
  brackets: "[]" | "{}",
  blank: string,
): void {
  pending.push(brackets.slice(1));
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const [before, value] = parts[index] ?? ["", null];
    pending.push({ value }, index === 0 ? before : `,${blank}${before}`);
  }
  pending.push(brackets.slice(0, 1));
}
