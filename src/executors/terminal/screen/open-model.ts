import type { IUnicodeHandling, Terminal } from "@xterm/headless";

export interface ModelOptions {
  readonly columns: number;
  readonly rows: number;
  /** Rows that are kept when they have left the screen. A row of 120 columns takes 1.4 KB. */
  readonly scrollbackRows: number;
}

/** Loads the model of a terminal with the first one: nothing else needs it. */
export async function openModel({ columns: cols, rows, scrollbackRows: scrollback }: ModelOptions): Promise<Terminal> {
  const [{ default: xterm }, { default: stringWidth }] = await Promise.all([
    import("@xterm/headless"),
    import("string-width"),
  ]);
  // It would tell stderr, at length, of each sequence that a program has got wrong.
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: "off" });
  useCurrentWidths(terminal.unicode, stringWidth);
  return terminal;
}

const VERSION = "pawl";
/** Nothing below is wide or combines with what stands before it. */
const FIRST_SPECIAL = 0x300;

/** Makes characters as wide as current programs expect; the model's own table is from 2010. Code points count, as in the C library. */
function useCurrentWidths(unicode: IUnicodeHandling, widthOf: (text: string) => number): void {
  const known = new Map<number, Width>();
  const wcwidth = (codePoint: number): Width => {
    if (codePoint < 0x20 || (codePoint >= 0x7f && codePoint < 0xa0)) return 0;
    if (codePoint < FIRST_SPECIAL) return 1;
    const width = known.get(codePoint) ?? toWidth(widthOf(String.fromCodePoint(codePoint)));
    known.set(codePoint, width);
    return width;
  };
  unicode.register({
    version: VERSION,
    wcwidth,
    charProperties: (code, before) => toProperties(wcwidth(code), before),
  });
  unicode.activeVersion = VERSION;
}

type Width = 0 | 1 | 2;

function toWidth(width: number): Width {
  return width <= 0 ? 0 : width === 1 ? 1 : 2;
}

/** The packing of the model: the width from bit 1 on, and bit 0 if the character joins the one before it. */
function toProperties(width: Width, before: number): number {
  const widthBefore = (before >> 1) & 3;
  const joins = width === 0 && before !== 0 && widthBefore > 0;
  return joins ? (widthBefore << 1) | 1 : width << 1;
}
