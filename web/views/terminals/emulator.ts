import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

/** A terminal on the page. What is asked of it is done one after the other; each promise resolves when it is to be seen. */
export interface Emulator {
  /** Everything anew, in this size. */
  show(screen: { readonly columns: number; readonly rows: number; readonly data: string }): Promise<void>;
  write(data: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Absent: no one types. */
  onType(listener: ((text: string) => void) | undefined): void;
  focus(): void;
  close(): void;
}

/** A sign that turns the reading direction stands in its cell as one that is not known. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const LEAST_FONT = 6;
const MOST_FONT = 16;

/** Programs choose their colours for a dark ground, by day too. */
const COLOURS = {
  ...{ background: "#0f1215", foreground: "#e6e8eb", cursor: "#e6e8eb", cursorAccent: "#0f1215" },
  ...{ selectionBackground: "#34507f", black: "#2d3239", brightBlack: "#9fa8b4" },
  ...{ red: "#ff8a80", brightRed: "#ffb1a9", green: "#52c68d", brightGreen: "#8fe0b6" },
  ...{ yellow: "#e3ab45", brightYellow: "#f4cd86", blue: "#84aaff", brightBlue: "#b1c9ff" },
  ...{ magenta: "#bda3ff", brightMagenta: "#d8c8ff", cyan: "#6cc7d8", brightCyan: "#a4e0ea" },
  ...{ white: "#d3d8de", brightWhite: "#ffffff" },
};

/** Opens one in the element, whose width and height it fills: the program's terminal keeps its size, the letters do not. */
export function openEmulator(frame: HTMLElement): Emulator {
  const terminal = new Terminal({
    cursorBlink: false,
    cursorInactiveStyle: "outline",
    disableStdin: true,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--font-mono"),
    fontSize: 13,
    scrollback: 2_000,
    theme: COLOURS,
    // What a program calls a link is its affair: nothing of it is opened.
    linkHandler: { activate: () => undefined },
  });
  answerNothing(terminal);
  let listener: ((text: string) => void) | undefined;
  terminal.onData((text) => listener?.(text));
  terminal.onBinary((text) => listener?.(text));
  // As in `pawl terminals attach`: the way out for who has no mouse, since Tab is the program's.
  terminal.attachCustomKeyEventHandler(({ ctrlKey, key }) => {
    if (!ctrlKey || key !== "]") return true;
    terminal.blur();
    frame.focus();
    return false;
  });
  terminal.open(frame);
  const fitAll = () => fitLetters(terminal, frame);
  const observer = new ResizeObserver(fitAll);
  observer.observe(frame);
  let last: Promise<void> = Promise.resolve();
  const next = (act: () => void | Promise<void>): Promise<void> => {
    last = last.then(act);
    return last;
  };
  const write = (data: string) =>
    new Promise<void>((resolve) => terminal.write(data.replace(DIRECTIONS, "\ufffd"), resolve));
  return {
    show: ({ columns, rows, data }) =>
      next(async () => {
        terminal.reset();
        terminal.resize(columns, rows);
        await write(data);
        fitAll();
      }),
    write: (data) => next(() => write(data)),
    resize: (columns, rows) =>
      next(() => {
        terminal.resize(columns, rows);
        fitAll();
      }),
    onType(to) {
      listener = to;
      terminal.options.disableStdin = to === undefined;
    },
    focus: () => terminal.focus(),
    close() {
      observer.disconnect();
      terminal.dispose();
    },
  };
}

/** As large as the frame allows, all columns and rows in sight where they can be read. */
function fitLetters(terminal: Terminal, frame: HTMLElement): void {
  const screen = frame.querySelector(".xterm-screen")?.getBoundingClientRect();
  if (screen === undefined || screen.width === 0 || screen.height === 0) return;
  const font = terminal.options.fontSize ?? MOST_FONT;
  const scale = Math.min(frame.clientWidth / screen.width, frame.clientHeight / screen.height);
  const next = Math.max(LEAST_FONT, Math.min(MOST_FONT, Math.floor(font * scale * 2) / 2));
  if (next !== font) terminal.options.fontSize = next;
}

/** A program that asks its terminal something is answered where the terminal is: not by everyone who looks on. */
function answerNothing({ parser }: Terminal): void {
  const questions = [
    ...[{ final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }, { prefix: ">", final: "q" }],
    ...[{ final: "n" }, { prefix: "?", final: "n" }, { final: "t" }],
    ...[
      { intermediates: "$", final: "p" },
      { prefix: "?", intermediates: "$", final: "p" },
    ],
  ];
  for (const question of questions) parser.registerCsiHandler(question, () => true);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
  for (const number of [4, 10, 11, 12]) parser.registerOscHandler(number, (text) => text.includes("?"));
  // Who looks on comes and goes: the program is not told of the focus.
  parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => params.length === 1 && params[0] === 1004);
}
