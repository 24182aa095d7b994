import { createLogUpdate } from "log-update";
import type { Paint } from "../text/paint.ts";
import { renderFrame } from "./live-frame.ts";
import type { LiveRun } from "./live-run.ts";

/** Where something is shown, with its size where it is a terminal. */
export type TerminalStream = NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };

/** Loaded only where there is a terminal: it costs what a small run costs. */
export interface Screen {
  draw(run: LiveRun, now: number): void;
  /** Text that stays, above the picture. */
  persist(text: string): void;
  /** Takes the picture away, for text that is to stand above it. */
  clear(): void;
  /** The picture stays as it is; what is written next stands below it. */
  close(): void;
}

export function openScreen(stream: TerminalStream, paint: Paint): Screen {
  const update = createLogUpdate(stream);
  return {
    draw: (run, now) => {
      const size = { columns: stream.columns || 80, rows: stream.rows || 24 };
      update(renderFrame(run, { ...size, now, paint }));
    },
    persist: (text) => update.persist(text),
    clear: () => update.clear(),
    close: () => update.done(),
  };
}
