import { REDACTED } from "../../../core/trust/secret-names.ts";
import type { ToolInput } from "../../../ports/terminals/terminal-tools.ts";
import { NOTHING_TYPED, readTypedLines } from "../input/typed-line.ts";
import { settle } from "../session/settle.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { lookAt, SESSION_NOT_FOUND, type ToolHandler, toTyping } from "./tool-parts.ts";

const SETTLING = { graceMs: 250, maxMs: 1_000 };

export const sendInput: ToolHandler<"send_input"> = async ({ table, gate, policy, surroundings }, request, call) => {
  const { session_id, input_text } = request;
  const session = table.find(session_id);
  const { input, keys, size, error } = toInput(request, session);
  const isHidden = (await session?.asksHidden()) ?? false;
  const recorded = isHidden ? hideTyped(request) : request;
  if (isHidden) surroundings.learn?.(secretsIn(input + keys));
  gate.admit(
    call,
    { tool: "send_input", session_id, input_text: recorded.input_text, keys: recorded.keys ?? [] },
    () => {
      if (session === undefined) return;
      policy.checkTyping(toTyping(session, { input: input + keys, length: input_text.length, isHidden }));
    },
  );
  const fail = (message: string, why: string | null) => ({
    success: false,
    session_id,
    message,
    ...lookAt(session),
    error: why,
  });
  if (session === undefined) return fail(SESSION_NOT_FOUND, error);
  const isMarked = request.paste === true && session.screen.wantsBracketedPaste;
  const problem = error ?? findProblem(session) ?? (isMarked ? undefined : await session.findLongLine(input + keys));
  if (problem != null) return fail("Failed to send input", problem);

  if (size !== undefined) session.resize(size.columns, size.rows);
  const typed = (isMarked ? PASTE_BEGIN + input + PASTE_END : input) + keys;
  await session.type(typed, isHidden);
  await settle(session, { ...SETTLING, expectsAnswer: /[\r\n]/.test(typed), signal: call.signal });
  return {
    success: true,
    session_id,
    message: `Input sent successfully: '${recorded.input_text}'`,
    ...lookAt(session),
    error: null,
  };
};

/** The request as it may be written down. */
export function hideTyped<Request extends { readonly input_text?: unknown; readonly keys?: unknown }>(
  request: Request,
) {
  const { keys } = request;
  return { ...request, input_text: REDACTED, ...(Array.isArray(keys) ? { keys: keys.map(() => REDACTED) } : {}) };
}

function secretsIn(input: string): readonly string[] {
  const { submitted, current } = readTypedLines(NOTHING_TYPED, input);
  return [...submitted, current].map(({ text }) => text).filter((text) => text !== "");
}

const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";

interface Input {
  readonly input: string;
  /** Pressed after it. */
  readonly keys: string;
  readonly size?: { readonly columns: number; readonly rows: number } | undefined;
  readonly error: string | null;
}

function toInput(
  { session_id, input_text, keys, paste, size: given }: ToolInput<"send_input">,
  session: TerminalSession | undefined,
): Input {
  // As terminals paste: a text is what it is, and its lines end as Enter ends them.
  const text = paste === true ? input_text.replace(/\r?\n/g, "\r") : translateEscapes(input_text);
  if (session === undefined) return { input: text, keys: "", error: `There is no session '${session_id}'.` };
  const { mouse, wantsApplicationKeys } = session.screen;
  const pressed = (keys ?? []).map((name) => ({
    name,
    sent: MOUSE.test(name) ? toMouseInput(name, mouse) : toKeyInput(name, wantsApplicationKeys),
  }));
  const unknown = pressed.find(({ sent }) => sent === undefined);
  const [, columns = 0, rows = 0] = /^(\d{1,3})x(\d{1,3})$/.exec(given ?? "")?.map(Number) ?? [];
  if (given != null && (columns < 2 || rows < 1 || columns > MAX_COLUMNS || rows > MAX_ROWS)) {
    const most = `${MAX_COLUMNS}x${MAX_ROWS}`;
    return { input: text, keys: "", error: `The size '${given}' is not COLUMNSxROWS, from 2x1 to ${most}.` };
  }
  const ends = paste === true && text.includes(PASTE_END);
  if (ends) return { input: text, keys: "", error: "A text that ends its own paste (ESC [201~) cannot be pasted." };
  const error = unknown === undefined ? null : explainKey(unknown.name, mouse !== undefined);
  const size = given == null ? undefined : { columns, rows };
  return { input: text, keys: pressed.map(({ sent = "" }) => sent).join(""), size, error };
}

const MAX_COLUMNS = 500;
const MAX_ROWS = 200;

function explainKey(name: string, takesMouse: boolean): string {
  if (!MOUSE.test(name)) return `No key is called '${name}'. There are ${KEY_NAMES.join(", ")}.`;
  if (!takesMouse) return "The program has not asked for the mouse: use keys.";
  return `'${name}' is beyond what the program can be told. Columns and rows count from 1.`;
}

function findProblem(session: TerminalSession): string | null {
  if (!session.isRunning) return "The program has ended.";
  return session.isClogged ? "The program does not read its input." : null;
}

const SIMPLE: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", e: "\u001b", "\\": "\\" };

const ESCAPE = /\\(?:([nrte\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|0([0-7]{0,2}))/g;

/** Translates written control characters: `\n \r \t \e \xHH \uHHHH \u{H...} \0 \0oo \\`. Any other backslash stays (`\d`, `\.`, `\b`). */
export function translateEscapes(text: string): string {
  return text.replace(
    ESCAPE,
    (whole, simple?: string, byte?: string, unit?: string, point?: string, octal?: string) => {
      if (simple !== undefined) return SIMPLE[simple] ?? whole;
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal || "0", 8));
      const code = Number.parseInt(byte ?? unit ?? point ?? "", 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

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

const MOUSE = /^(Click|MiddleClick|RightClick|Press|Drag|Release|WheelUp|WheelDown):(\d{1,3}),(\d{1,3})$/;
const BUTTONS: Readonly<Record<string, number>> = {
  MiddleClick: 1,
  RightClick: 2,
  Drag: 32,
  WheelUp: 64,
  WheelDown: 65,
};
/** Without an encoding a place is one character behind the blank. */
const MOST_PLAIN = 94;

/** What the mouse sends: `Click:COLUMN,ROW` and the like, counted from 1. */
function toMouseInput(name: string, mouse: "sgr" | "plain" | undefined): string | undefined {
  const [, kind = "", column = "", row = ""] = MOUSE.exec(name) ?? [];
  const [x, y] = [Number(column), Number(row)];
  if (mouse === undefined || x < 1 || y < 1 || (mouse === "plain" && Math.max(x, y) > MOST_PLAIN)) return undefined;
  const button = BUTTONS[kind] ?? 0;
  const ends = kind.endsWith("Click") ? ["M", "m"] : [kind === "Release" ? "m" : "M"];
  const plain = (end: string) =>
    [end === "m" ? 3 : button, x, y].map((code) => String.fromCharCode(32 + code)).join("");
  return ends.map((end) => (mouse === "sgr" ? `${ESC}[<${button};${x};${y}${end}` : `${ESC}[M${plain(end)}`)).join("");
}

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
const KEY_NAMES: readonly string[] = [
  ...Object.keys(PLAIN),
  ...Object.keys(CURSOR),
  "C-a to C-z",
  "M-<key>",
  "Click:COLUMN,ROW",
];

function toControl(character: string): string {
  if (character === "?") return "\u007f";
  if (character === " ") return "\0";
  return String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f);
}

function addMeta(input: string | undefined): string | undefined {
  return input === undefined ? undefined : ESC + input;
}
