import type { Terminal } from "@xterm/headless";
import type { PrivateModes } from "./private-modes.ts";

const MOUSE_TRACKING = { none: undefined, x10: 9, vt200: 1000, drag: 1002, any: 1003 } as const;

/**
 * What brings an empty terminal into the modes of another one, without moving the cursor: how keys, pasted text and the
 * mouse are sent, and what happens at the edge. Not known are the margins of scrolling and the colour of the pen.
 */
export function serializeModes({ modes }: Terminal, hidden: PrivateModes): string {
  const on = [
    modes.applicationCursorKeysMode ? 1 : undefined,
    modes.applicationKeypadMode ? 66 : undefined,
    modes.bracketedPasteMode ? 2004 : undefined,
    modes.reverseWraparoundMode ? 45 : undefined,
    MOUSE_TRACKING[modes.mouseTrackingMode],
    hidden.mouseEncoding,
  ].filter((mode) => mode !== undefined);
  const off = [modes.wraparoundMode ? undefined : 7, hidden.isCursorVisible ? undefined : 25].filter(
    (mode) => mode !== undefined,
  );
  return (
    [...on.map((mode) => `\u001b[?${mode}h`), ...off.map((mode) => `\u001b[?${mode}l`)].join("") +
    (modes.insertMode ? "\u001b[4h" : "")
  );
}
