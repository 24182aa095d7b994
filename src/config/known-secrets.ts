import { createMask, createPieceMask, type PieceMask, toSecretSpellings } from "./create-mask.ts";

/** Secrets of ended runs that are still masked, because output of a run may come late. */
const MAX_REMEMBERED = 20;

/** Every secret that this process knows: those of the configuration, and those in inputs of runs. */
export class KnownSecrets {
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

  readonly mask = (text: string): string => this.#mask(text);

  /** For a text that comes in pieces. Secrets learnt later are not masked in it. */
  readonly maskPieces = (): PieceMask => this.#toPieceMask();

  /** The secrets known now, for code that masks by itself. */
  snapshot(): { readonly spellings: readonly string[]; mask(text: string): string } {
    return { spellings: toSecretSpellings(this.#all()), mask: this.#mask };
  }

  /** Masks these too, until the returned function is called and some other secrets have been released after them. */
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
