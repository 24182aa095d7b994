/** Counts the requests of each caller over all processes. */
export interface RequestRates {
  /**
   * How long the caller must wait, in milliseconds: 0 lets the request in and counts it. Undefined: nobody can say at the moment,
   * and each process counts by itself.
   */
  take(caller: string, perMinute: number): Promise<number | undefined>;
}
