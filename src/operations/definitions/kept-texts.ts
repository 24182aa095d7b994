import { statSync } from "node:fs";
import { BoundedMap } from "../../core/bounded-map.ts";
import { readTextFile } from "./read-text-file.ts";

interface Kept {
  readonly stamp: string;
  readonly text: string;
}

const MAX_KEPT = 50;

/** Files that every start of a run asks for: each is read again only where it has changed. */
export class KeptTexts {
  readonly #kept = new BoundedMap<string, Kept>(MAX_KEPT);

  /** As `readTextFile`. */
  async read(path: string): Promise<string> {
    const stamp = stampOf(path);
    const known = this.#kept.get(path);
    if (known !== undefined && known.stamp === stamp) return known.text;
    const text = await readTextFile(path);
    // Looked at before it was read: who writes meanwhile is seen the next time.
    if (stamp !== undefined) this.#kept.set(path, { stamp, text });
    return text;
  }
}

/** Undefined: it cannot be looked at, and reading it says why. A look is so short that waiting for it would take longer. */
function stampOf(path: string): string | undefined {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}
