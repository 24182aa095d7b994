/** Counts the requests of each caller over all processes. */
export interface RequestRates {
  /** How long the caller must wait, in milliseconds; 0 admits and counts the request. Undefined: unknown now, so the process counts for itself. */
  take(caller: string, perMinute: number): Promise<number | undefined>;
}
