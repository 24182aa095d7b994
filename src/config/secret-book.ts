import { createMask, createPieceMask, type PieceMask, toSecretSpellings } from "./create-mask.ts";

/** What of ended runs is still masked: their last words may come late. */
const MAX_REMEMBERED = 20;

/** Every secret that this process knows: those of the configuration, and those that runs were given. */
export class SecretBook {
  readonly #configured: readonly string[];
  /** How many runs hold each. */
  readonly #held = new Map<string, number>();
  readonly #remembered = new Set<string>();
  #mask: (text: string) => string;
  #toPieceMask: () => PieceMask;

  constructor(configured: readonly string[]) {
    this.#configured = configured;
    this.#mask = createMask(configured);
    this.#toPieceMask = createPieceMask(configured);
  }

  /** Takes every known secret out of a text. */
  readonly mask = (text: string): string => this.#mask(text);

  /** For a text that comes in pieces; what is learnt later is not masked in it. */
  readonly maskPieces = (): PieceMask => this.#toPieceMask();

  /** The secrets as they are known now, for what masks on its own. */
  snapshot(): { readonly spellings: readonly string[]; mask(text: string): string } {
    return { spellings: toSecretSpellings(this.#all()), mask: this.#mask };
  }

  /** From now on masked as well, until the returned function is called and some others have come after. */
  learn(values: readonly string[]): () => void {
    const learnt = [...new Set(values)];
    for (const value of learnt) this.#held.set(value, (this.#held.get(value) ?? 0) + 1);
    this.#renew();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(learnt);
    };
  }

  #release(values: readonly string[]): void {
    for (const value of values) {
      const holders = (this.#held.get(value) ?? 1) - 1;
      if (holders > 0) {
        this.#held.set(value, holders);
        continue;
      }
      this.#held.delete(value);
      this.#remembered.delete(value);
      this.#remembered.add(value);
    }
    for (const oldest of this.#remembered) {
      if (this.#remembered.size <= MAX_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
    this.#renew();
  }

  #renew(): void {
    const all = this.#all();
    this.#mask = createMask(all);
    this.#toPieceMask = createPieceMask(all);
  }

  #all(): string[] {
    return [...new Set([...this.#configured, ...this.#held.keys(), ...this.#remembered])];
  }
}
