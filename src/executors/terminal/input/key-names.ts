const ESC = "\u001b";

/** Keys that send the same whatever the program has asked for. */
const PLAIN: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  "S-Tab": `${ESC}[Z`,
  Escape: ESC,
  Space: " ",
  Backspace: "\u007f",
  Insert: `${ESC}[2~`,
  Delete: `${ESC}[3~`,
  PageUp: `${ESC}[5~`,
  PageDown: `${ESC}[6~`,
  F1: `${ESC}OP`,
  F2: `${ESC}OQ`,
  F3: `${ESC}OR`,
  F4: `${ESC}OS`,
  F5: `${ESC}[15~`,
  F6: `${ESC}[17~`,
  F7: `${ESC}[18~`,
  F8: `${ESC}[19~`,
  F9: `${ESC}[20~`,
  F10: `${ESC}[21~`,
  F11: `${ESC}[23~`,
  F12: `${ESC}[24~`,
};

/** Keys that full-screen programs may ask for in another form. */
const CURSOR: Readonly<Record<string, string>> = { Up: "A", Down: "B", Right: "C", Left: "D", Home: "H", End: "F" };

const CONTROL = /^C-([a-zA-Z@[\\\]^_? ])$/;
const META = /^M-(.+)$/u;

/** The characters that a key sends: `Enter`, `Up`, `F5`, `C-c`, `M-f`, `S-Tab`, or one character. `undefined`: there is no such key. */
export function toKeyInput(name: string, wantsApplicationKeys: boolean): string | undefined {
  if (Object.hasOwn(PLAIN, name)) return PLAIN[name];
  if (Object.hasOwn(CURSOR, name)) return `${ESC}${wantsApplicationKeys ? "O" : "["}${CURSOR[name]}`;
  const control = CONTROL.exec(name)?.[1];
  if (control !== undefined) return toControl(control);
  const meta = META.exec(name)?.[1];
  if (meta !== undefined) return addMeta(toKeyInput(meta, wantsApplicationKeys));
  return [...name].length === 1 ? name : undefined;
}

/** For messages. */
export const KEY_NAMES: readonly string[] = [...Object.keys(PLAIN), ...Object.keys(CURSOR), "C-a to C-z", "M-<key>"];

function toControl(character: string): string {
  if (character === "?") return "\u007f";
  if (character === " ") return "\0";
  return String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f);
}

function addMeta(input: string | undefined): string | undefined {
  return input === undefined ? undefined : ESC + input;
}
