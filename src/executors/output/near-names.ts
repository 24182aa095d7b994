import { distance } from "fastest-levenshtein";

const MAX_LISTED = 20;

/** For a name that is not among those known: the one that was most likely meant, or all of them where they are few. */
export function describeKnown(name: string, known: readonly string[]): string {
  if (known.length === 0) return "There are none.";
  const near = nearestName(name, known);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const listed = known.slice(0, MAX_LISTED).map((candidate) => `\`${candidate}\``);
  const rest = known.length - listed.length;
  return `There are ${listed.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

/** Undefined: none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best !== undefined && best.edits <= Math.max(1, Math.floor(name.length / 3)) ? best.candidate : undefined;
}

/** A key that holds things back or chooses them by name, and what its names may match. */
interface NameRule {
  readonly key: string;
  /** Whose things they are: `the agent "x"`. */
  readonly of: string;
  /** The names that there are, as the name is written. */
  known(name: string): readonly string[];
  matches(name: string): boolean;
}

/**
 * The names under a key that match nothing, in words. Where the key forbids or asks, what it was meant for can be called under
 * another name, so that nothing may begin; where it only allows, the rest stays closed.
 */
export function describeUnmatched(names: readonly string[], { key, of, known, matches }: NameRule): readonly string[] {
  const idle = names.filter((name) => !matches(name));
  return idle.map(
    (name) => `\`${name}\` under \`${key}\` matches no tool of ${of}. ${describeKnown(name, known(name))}`,
  );
}
