import { type ReactNode, useRef, useState } from "react";

const STEP = 3;
const LEAST = 20;

interface SplitProps {
  readonly left: ReactNode;
  readonly right: ReactNode;
  /** Names the bar between them. */
  readonly label: string;
}

/** Two panes with a bar to drag, or to move with the arrow keys. On a narrow page the right one stands below. */
export function Split({ left, right, label }: SplitProps) {
  const [percent, setPercent] = useState(58);
  const frame = useRef<HTMLDivElement>(null);
  const move = (to: number) => setPercent(Math.min(100 - LEAST, Math.max(LEAST, to)));
  const drag = (event: React.PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (box !== undefined && event.buttons === 1) move(((event.clientX - box.left) / box.width) * 100);
  };
  return (
    <div ref={frame} className="flex min-h-0 flex-1 max-lg:flex-col max-lg:overflow-auto">
      <div className="flex min-w-0 flex-col max-lg:w-full! max-lg:shrink-0 lg:min-h-0" style={{ width: `${percent}%` }}>
        {left}
      </div>
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={Math.round(percent)}
        aria-valuemin={LEAST}
        aria-valuemax={100 - LEAST}
        tabIndex={0}
        className="w-1 shrink-0 cursor-col-resize bg-line hover:bg-accent max-lg:hidden"
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") move(percent - STEP);
          if (event.key === "ArrowRight") move(percent + STEP);
        }}
      />
      <div className="flex min-w-0 flex-1 flex-col max-lg:border-t max-lg:border-line lg:min-h-0">{right}</div>
    </div>
  );
}
