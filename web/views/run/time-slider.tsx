import { useEffect, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Status } from "../../parts/status.tsx";

interface TimeSliderProps {
  /** The event that the run is looked at as of. Undefined: the present. */
  readonly asOf: number | undefined;
  readonly lastSeq: number;
  readonly state: { readonly status: string; readonly at: string } | undefined;
  readonly onChange: (seq: number | undefined) => void;
}

/** Goes through the events of a run: everything beside it is as it was then. */
export function TimeSlider({ asOf, lastSeq, state, onChange }: TimeSliderProps) {
  const [held, setHeld] = useState<number>();
  const at = held ?? asOf ?? lastSeq;
  // What is passed by while the slider moves is not asked for.
  useEffect(() => {
    if (held === undefined) return;
    const timer = setTimeout(() => {
      onChange(held >= lastSeq ? undefined : held);
      setHeld(undefined);
    }, 120);
    return () => clearTimeout(timer);
  }, [held, lastSeq, onChange]);
  return (
    <div className="flex items-center gap-2 border-b border-line px-2 py-1 text-xs text-soft">
      <label className="flex min-w-0 flex-1 items-center gap-2">
        <span className="whitespace-nowrap">as of event</span>
        <input
          type="range"
          min={1}
          max={Math.max(1, lastSeq)}
          value={Math.min(at, lastSeq)}
          className="min-w-0 flex-1 accent-accent"
          onChange={({ target }) => setHeld(Number(target.value))}
        />
      </label>
      <span className="whitespace-nowrap">
        {at.toLocaleString()} of {lastSeq.toLocaleString()}
      </span>
      {state !== undefined && (
        <>
          <span title={state.at} className="whitespace-nowrap">
            {new Date(state.at).toLocaleTimeString()}
          </span>
          <Status status={state.status} />
        </>
      )}
      {asOf !== undefined && (
        <Button kind="main" onClick={() => onChange(undefined)}>
          Back to now
        </Button>
      )}
    </div>
  );
}
