import { BoundedMap } from "../../core/bounded-map.ts";
import { stampNow } from "./file-stamps.ts";
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
    const stamp = stampNow(path);
    const known = this.#kept.get(path);
    if (known !== undefined && known.stamp === stamp) return known.text;
    const text = await readTextFile(path);
    // The stamp is from before it was read: who writes meanwhile is seen the next time.
    if (stamp !== undefined) this.#kept.set(path, { stamp, text });
    return text;
  }
}
