import { useEffect, useState } from "react";

/** The time in milliseconds, once a second while `isRunning`. */
export function useNow(isRunning = true, everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return now;
}
