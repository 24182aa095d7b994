import type { Clock } from "../../ports/clock.ts";

/** The longest delay that timers of the platform take. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt(atMs, wake) {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const delayMs = atMs - Date.now();
      // Timers of the platform may ring a little early; ours may not.
      timer = delayMs > 0 ? setTimeout(arm, Math.min(delayMs, MAX_DELAY_MS)) : setTimeout(wake, 0);
    };
    arm();
    return () => clearTimeout(timer);
  },
};
