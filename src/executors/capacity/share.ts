import type { PoolShare } from "../../ports/pool-shares.ts";

/** What this process has of a limit that all processes share. A process that is alone has all of it. */
export class Share {
  readonly name: string;
  /** Infinity: none is configured. */
  readonly max: number;
  /** The part of this process where the limit is what the server is known to take. Undefined: nobody has said. */
  fair: number | undefined;
  #places: number;
  /** The calls in flight here, and those that wait, as others know them. */
  #told = 0;
  /** Others may have the places from then on. */
  #until: number;

  constructor(name: string, max: number, isAlone: boolean) {
    this.name = name;
    this.max = max;
    this.#places = isAlone ? max : 0;
    this.#until = Number.POSITIVE_INFINITY;
  }

  get isGivenBack(): boolean {
    return this.#told === 0;
  }

  hasRoom(inFlight: number, now: number): boolean {
    return this.max === Number.POSITIVE_INFINITY || (inFlight < this.#places && now < this.#until);
  }

  /** Others know by now how many places are wanted here. */
  knows(wanted: number): boolean {
    return Math.min(wanted, this.max) <= this.#told;
  }

  /** It is told to others: what is beyond the calls in flight may go to them now. */
  tell(inFlight: number, waiting: number): void {
    this.#told = inFlight + waiting;
    this.#places = Math.min(this.#places, inFlight);
  }

  set({ places }: PoolShare, until: number): void {
    this.fair = this.max === Number.POSITIVE_INFINITY && places > 0 ? places : undefined;
    this.#places = Math.min(places, this.max);
    this.#until = until;
  }
}
