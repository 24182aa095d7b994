const FIRST_MS = 250;
const MAX_MS = 30_000;

/**
 * The delay before the next connection after `failures` failures in a row: none after the first, then twice as
 * long each time, up to half a minute. `chance` (0 to 1) takes up to half of it off, so that many do not come back at once.
 */
export function computeRestartDelayMs(failures: number, chance: number): number {
  if (failures <= 1) return 0;
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 2, 16));
  return Math.round(full * (1 - chance / 2));
}
