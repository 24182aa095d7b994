import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { OutputFrame, OutputView } from "../../ports/terminals/terminal-views.ts";

/** Behind this event there is nothing. */
export const TERMINAL_ENDED = "ended";

interface TerminalEvent {
  readonly event: OutputFrame["type"];
  readonly data: object;
  readonly id?: string;
}

/**
 * Tells what a terminal shows, then what its program puts out, until it has ended. Nobody needs to know where a lost connection
 * was: the next one begins with the screen.
 */
export async function* followTerminal(watch: () => OutputView, stop: AbortSignal): AsyncGenerator<TerminalEvent> {
  if (stop.aborted) return;
  const view = watch();
  const close = () => view.close();
  stop.addEventListener("abort", close, { once: true });
  try {
    for (;;) {
      const frame = await view.next();
      yield toEvent(frame);
      if (frame.type === "ended") return;
    }
  } catch (error) {
    const isGone = isPawlError(error) && error.code === "TERMINAL_NOT_FOUND";
    if (!isGone) throw error;
  } finally {
    stop.removeEventListener("abort", close);
    close();
  }
}

function toEvent(frame: OutputFrame): TerminalEvent {
  switch (frame.type) {
    case "screen": {
      const { columns, rows, data } = frame;
      return { event: "screen", data: { columns, rows, data } };
    }
    case "output":
      return { event: "output", data: { data: frame.data } };
    case "ended":
      return { event: "ended", data: { exit_code: frame.exitCode }, id: TERMINAL_ENDED };
  }
}
