/** So many names at most become values of a label: each is a time series for ever. Names beyond are one. */
export class BoundedNames {
  readonly #max: number;
  readonly #known = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  bound(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.#max || name.length > 200) return "other";
    this.#known.add(name);
    return name;
  }
}
