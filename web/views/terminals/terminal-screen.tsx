import { useEffect, useRef, useState } from "react";
import { Loading } from "../../parts/loading.tsx";
import type { Emulator } from "./emulator.ts";

interface TerminalScreenProps {
  readonly label: string;
  /** Is given the emulator when it has loaded, and undefined when it is gone. */
  readonly onEmulator: (emulator: Emulator | undefined) => void;
}

/** The place of a terminal. The emulator loads when it is first needed. */
export function TerminalScreen({ label, onEmulator }: TerminalScreenProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isLoading, setLoading] = useState(true);
  const [failure, setFailure] = useState<string>();
  const tell = useRef(onEmulator);
  tell.current = onEmulator;
  useEffect(() => {
    let emulator: Emulator | undefined;
    let isGone = false;
    import("./emulator.ts").then(
      ({ openEmulator }) => {
        if (isGone || frame.current === null) return;
        emulator = openEmulator(frame.current);
        setLoading(false);
        tell.current(emulator);
      },
      (error: unknown) => setFailure(String(error)),
    );
    return () => {
      isGone = true;
      tell.current(undefined);
      emulator?.close();
    };
  }, []);
  return (
    <div className="min-h-0 flex-1 overflow-auto p-2" style={{ background: "#0f1215" }}>
      {failure !== undefined && <p className="text-bad">{failure}</p>}
      {isLoading && failure === undefined && <Loading what="the terminal" />}
      <div ref={frame} role="group" aria-label={label} tabIndex={-1} className="h-full min-h-64 outline-none" />
    </div>
  );
}
