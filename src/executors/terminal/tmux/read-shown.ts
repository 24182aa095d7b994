import { parseExact } from "../../../core/exact-json.ts";
import type { InputNote, ShownBefore } from "../session/pty.ts";
import type { ControlClient } from "./control-client.ts";

const ESC = "\u001b";
/** Rows in tmux's history when there is an input: more are let go, so that the input's row stays known. */
const MAX_ROWS_AT_INPUT = 8_000;

/** The options that each input sets in the server, in this order. The cursor is counted from the first row kept. */
export const INPUT_OPTIONS: readonly ((input: string) => string)[] = [
  () => `if-shell -F '#{e|>|:#{history_size},${MAX_ROWS_AT_INPUT}}' clear-history`,
  () => "set-option -F @pawl_place '#{e|+|:#{history_size},#{cursor_y}},#{cursor_x},#{alternate_on}'",
  (input) => `set-option @pawl_input '${input}'`,
];

/** The sequences that set the modes which tmux reports. Versions before 3.6 do not report pasted text (2004). */
const MODES = [
  "#{?keypad_cursor_flag,?1h/,}",
  "#{?keypad_flag,?66h/,}",
  "#{?wrap_flag,,?7l/}",
  "#{?insert_flag,4h/,}",
  "#{?cursor_flag,,?25l/}",
  "#{?mouse_standard_flag,?1000h/,}",
  "#{?mouse_button_flag,?1002h/,}",
  "#{?mouse_all_flag,?1003h/,}",
  "#{?mouse_sgr_flag,?1006h/,}",
  "#{?bracket_paste_flag,?2004h/,}",
].join("");

const FORMAT = [
  "#{history_size}",
  "#{cursor_x}",
  "#{cursor_y}",
  "#{alternate_on}",
  "#{alternate_saved_x}",
  "#{alternate_saved_y}",
  MODES,
  "#{@pawl_place}",
  "#{@pawl_input}",
].join(" ");
const ASK_STATE = `display-message -p '${FORMAT}'`;

/** Between two looks a program may print; one that never rests is looked at as it is. */
const MAX_LOOKS = 5;

interface State {
  readonly historyRows: number;
  readonly column: number;
  readonly row: number;
  readonly isAlternate: boolean;
  /** How they are set. */
  readonly modes: string;
  /** The cursor of the normal screen while a full-screen program runs. */
  readonly savedColumn: number;
  readonly savedRow: number;
  /** The place of the last input. */
  readonly place: { readonly row: number; readonly isAlternate: boolean; readonly column: number } | undefined;
  readonly input: InputNote | undefined;
}

/** Reads what a terminal shows, with what has left it at the top. `done` is called before any output that comes later. */
export function readShown(control: ControlClient, maxHistoryRows: number, done: (shown: ShownBefore) => void): void {
  look(MAX_LOOKS);

  function look(looks: number): void {
    control.send(ASK_STATE, ({ text }) => {
      const state = toState(text);
      const texts: string[] = [];
      const commands = toCaptures(state, maxHistoryRows);
      for (const command of commands) control.send(command, (reply) => texts.push(reply.isOk ? reply.text : ""));
      control.send(ASK_STATE, ({ text: after }) => {
        if (after === text || looks <= 1) done(toShown(state, texts));
        else look(looks - 1);
      });
    });
  }
}

function toState(text: string): State {
  const words = text.split(" ");
  const [historyRows = 0, column = 0, row = 0, isAlternate, savedColumn, savedRow] = words.map(Number);
  const [modes = "", place = "", input = ""] = words.slice(6);
  const [placeRow = 0, placeColumn = 0, wasAlternate] = place.split(",").map(Number);
  return {
    historyRows,
    column,
    row,
    isAlternate: isAlternate === 1,
    modes: modes.replace(/[^/]+\//g, (mode) => `${ESC}[${mode.slice(0, -1)}`),
    savedColumn: savedColumn ?? 0,
    savedRow: savedRow ?? 0,
    place: place === "" ? undefined : { row: placeRow, column: placeColumn, isAlternate: wasAlternate === 1 },
    input: input === "" ? undefined : (parseExact(Buffer.from(input, "base64").toString()) as InputNote),
  };
}

/** The rows before the input, then the rest; or the normal screen, then that of a full-screen program. */
function toCaptures(state: State, maxHistoryRows: number): readonly string[] {
  const first = -Math.min(state.historyRows, maxHistoryRows);
  if (state.isAlternate)
    return [first < 0 ? capture(`-J -S ${first} -E -1`) : NOTHING, capture("-J -a"), capture("-N -S 0")];
  const begin = Math.max(rowOfInput(state), first);
  return [begin > first ? capture(`-J -S ${first} -E ${begin - 1}`) : NOTHING, NOTHING, capture(`-J -S ${begin}`)];
}

const NOTHING = "display-message -p ''";

function capture(what: string): string {
  return `capture-pane -p -e ${what}`;
}

/** From the first row of the screen on. Where the screen has been cleared since, output begins at its top. */
function rowOfInput({ place, historyRows, row }: State): number {
  if (place === undefined) return -historyRows;
  const found = place.row - historyRows;
  return found > row || place.isAlternate ? 0 : found;
}

function toShown(state: State, [history = "", normal = "", rest = ""]: readonly string[]): ShownBefore {
  // Line drawing, as tmux writes it.
  const start = `${ESC})0`;
  const above = history === "" ? "" : `${toLines(history)}\r\n`;
  const cursor = toCursor(state.row, state.column);
  const after = `${toLines(rest)}${cursor}${ESC}[0m${state.modes}`;
  const { input, place } = state;
  if (state.isAlternate) {
    const full = `${ESC}[?1049h${ESC}[H`;
    const before = start + above + toLines(normal) + toCursor(state.savedRow, state.savedColumn);
    return place?.isAlternate === true
      ? { before: before + full, after, input }
      : { before, after: full + after, input };
  }
  // The cursor as it was; what stands left of it is part of what comes.
  const isKnown = place !== undefined && place.row - state.historyRows === rowOfInput(state);
  const aside = isKnown && place.column > 0 ? `${ESC}[${place.column}C` : "";
  return { before: start + above + aside, after: `\r${after}`, input };
}

function toCursor(row: number, column: number): string {
  return `${ESC}[${row + 1};${column + 1}H`;
}

function toLines(text: string): string {
  return text.replaceAll("\n", "\r\n");
}
