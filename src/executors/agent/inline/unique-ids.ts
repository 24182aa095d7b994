import type { TurnPart } from "../../models/turn-part.ts";

/** Some servers give the same id to every call, or none: then a result would belong to nobody. */
export function withUniqueIds(
  parts: readonly TurnPart[],
  { turn, taken }: { readonly turn: number; readonly taken: Set<string> },
): readonly TurnPart[] {
  return parts.map((part, index) => {
    if (part.type !== "call" || part.isProviders) return part;
    const id = part.id !== "" && !taken.has(part.id) ? part.id : `call_${turn}_${index + 1}`;
    taken.add(id);
    return id === part.id ? part : { ...part, id };
  });
}
