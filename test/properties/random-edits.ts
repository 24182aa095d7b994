import fc from "fast-check";

/** Texts with one to four edits: lines and characters go, come twice or move, and `fragments` stand where they should not. */
export function editedTexts(valid: readonly string[], fragments: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.record({ at: fc.nat(), kind: fc.nat(9), pick: fc.nat() });
  const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
  return fc
    .tuple(fc.constantFrom(...valid), edits)
    .map(([text, chosen]) => chosen.reduce((edited, each) => editText(edited, each, fragments), text));
}

/** Trees with one to three edits: `parts` and any JSON stand where something else was. */
export function editedTrees(valid: readonly unknown[], parts: readonly unknown[]): fc.Arbitrary<unknown> {
  const value: fc.Arbitrary<unknown> = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...parts));
  const edit = fc.record({ at: fc.nat(), kind: fc.nat(4), value, pick: fc.nat() });
  const edits = fc.array(edit, { minLength: 1, maxLength: 3 });
  return fc.tuple(fc.constantFrom(...valid), edits).map(([tree, chosen]) => {
    const copy: unknown = structuredClone(tree);
    for (const each of chosen) editTree(copy, each);
    return copy;
  });
}

interface TextEdit {
  readonly at: number;
  readonly kind: number;
  readonly pick: number;
}

function editText(text: string, { at, kind, pick }: TextEdit, fragments: readonly string[]): string {
  const lines = text.split("\n");
  const line = at % lines.length;
  const offset = at % (text.length + 1);
  const fragment = fragments[pick % fragments.length] ?? "";
  if (kind === 0) return lines.toSpliced(line, 1).join("\n");
  if (kind === 1) return lines.toSpliced(line, 0, lines[pick % lines.length] ?? "").join("\n");
  if (kind === 2) return lines.with(line, ` ${lines[line]}`).join("\n");
  if (kind === 3) return lines.with(line, (lines[line] ?? "").trimStart()).join("\n");
  if (kind === 4) return text.slice(0, offset);
  if (kind === 5) return text.slice(0, offset) + text.slice(offset + 1 + (pick % 10));
  if (kind === 6)
    return text.replaceAll(/\b\w+\b/g, (word, from: number) => (from % 17 === at % 17 ? `${word}x` : word));
  return text.slice(0, offset) + fragment + text.slice(offset);
}

interface TreeEdit extends TextEdit {
  readonly value: unknown;
}

/** Replaces, removes, repeats, renames or exchanges one part of a tree. */
function editTree(tree: unknown, { at, kind, value, pick }: TreeEdit): void {
  const owners = collectOwners(tree);
  const owner = owners[at % Math.max(1, owners.length)];
  if (owner === undefined) return;
  const keys = Object.keys(owner);
  const key = keys[pick % Math.max(1, keys.length)];
  if (key === undefined) return;
  const other = owners[pick % owners.length] ?? owner;
  if (kind === 0) owner[key] = structuredClone(value);
  if (kind === 1) delete owner[key];
  if (kind === 2) owner[key] = structuredClone(other);
  if (kind === 3) owner[`${key}s`] = owner[key];
  if (kind === 4) owner[keys[at % keys.length] ?? key] = structuredClone(owner[key]);
}

function collectOwners(tree: unknown): Record<string, unknown>[] {
  if (typeof tree !== "object" || tree === null) return [];
  const owner = tree as Record<string, unknown>;
  return [owner, ...Object.values(owner).flatMap(collectOwners)];
}
