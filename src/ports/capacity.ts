/** A server, a provider or a model, and how many calls of this process it takes at once. */
export interface PoolState {
  /** The origin of an agent server, a provider, or `provider:model`. */
  readonly name: string;
  /** How many calls may be in flight. */
  readonly width: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Calls that were refused and waited for another place, since the process began. */
  readonly refused: number;
  /** The server takes nothing, and is asked again at this time, in milliseconds since the epoch. */
  readonly closedUntil?: number;
}

export interface CapacityWait extends PoolState {
  /** The calls of this run that wait. */
  readonly waitingHere: number;
}

export interface CapacityView {
  pools(): readonly PoolState[];
  waitsOf(runId: string): readonly CapacityWait[];
}
