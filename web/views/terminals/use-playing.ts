import { useCallback, useEffect, useState } from "react";
import { type Cast, countUntil } from "./cast.ts";

/** Longer ones are skipped where that is wished, to this much of them. */
const LONGEST_REST_SECONDS = 1;

interface PlayingOptions {
  readonly speed: number;
  readonly skipsRests: boolean;
}

/** The time that a recording is at, in seconds, and how it goes on. */
export function usePlaying(cast: Cast | undefined, { speed, skipsRests }: PlayingOptions) {
  const [at, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(true);
  const end = cast?.seconds ?? 0;
  useEffect(() => {
    if (!isPlaying || cast === undefined) return;
    let last: number | undefined;
    let frame = requestAnimationFrame(function step(now: number) {
      const passed = ((now - (last ?? now)) / 1_000) * speed;
      last = now;
      setAt((before) => {
        const after = before + passed;
        const next = cast.events[countUntil(cast, after)]?.at;
        return Math.min(
          end,
          skipsRests && next !== undefined ? Math.max(after, next - LONGEST_REST_SECONDS * speed) : after,
        );
      });
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, cast, end, speed, skipsRests]);
  const isAtEnd = cast !== undefined && at >= end;
  useEffect(() => {
    if (isAtEnd) setPlaying(false);
  }, [isAtEnd]);
  const seek = useCallback((to: number) => setAt(Math.max(0, Math.min(end, to))), [end]);
  /** At the end it begins again. */
  const toggle = useCallback(() => {
    if (isAtEnd) setAt(0);
    setPlaying(isAtEnd || !isPlaying);
  }, [isAtEnd, isPlaying]);
  return { at, isPlaying, seek, toggle };
}
