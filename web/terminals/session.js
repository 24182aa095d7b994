// The page of one terminal: xterm.js, fed by a WebSocket. The program's terminal keeps its size; the page scales.

import { bearing, protocols } from "/terminals/assets/token.js";
import { Terminal } from "/terminals/assets/xterm.js";

const MIN_FONT = 6;
const MAX_FONT = 20;
const TOLD_MS = 6_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];
/** As the rule for inputs says. */
const MAX_INPUT = 10_000;
const ENDED = 4000;
const NOT_FOUND = 4404;

const address = location.pathname;
let canType = false;
let retries = 0;
/** @type {WebSocket | undefined} */
let socket;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let toldTimer;

/** @param {string} id */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

allowStyles();
const terminal = new Terminal({
  allowProposedApi: true,
  cols: 120,
  rows: 30,
  convertEol: false,
  cursorBlink: false,
  disableStdin: true,
  fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
  scrollback: 2_000,
  theme: {
    background: "#0d1117",
    foreground: "#e2e9f0",
    cursor: "#7ee2b8",
    cursorAccent: "#0d1117",
    selectionBackground: "#2f4a66",
    black: "#30363d",
    brightBlack: "#8b98a8",
    red: "#f28b82",
    brightRed: "#ffaba3",
    green: "#7ee2b8",
    brightGreen: "#a6f0d0",
    yellow: "#f0c674",
    brightYellow: "#ffdf9e",
    blue: "#7fb4ff",
    brightBlue: "#a9ceff",
    magenta: "#d0a8ff",
    brightMagenta: "#e2c9ff",
    cyan: "#76d5e6",
    brightCyan: "#a5e8f3",
    white: "#c9d3de",
    brightWhite: "#ffffff",
  },
});
answerNothing();
terminal.open(element("terminal"));
terminal.onData(type);
terminal.onBinary(type);
terminal.onTitleChange(showTitle);
new ResizeObserver(fillWindow).observe(element("stage"));
element("kill").addEventListener("click", () => void kill());
connect();

/** xterm.js adds style sheets of its own, which the page's policy admits only with its nonce. */
function allowStyles() {
  const nonce = /** @type {HTMLScriptElement | null} */ (document.querySelector("script[nonce]"))?.nonce ?? "";
  const create = document.createElement.bind(document);
  document.createElement = /** @type {typeof document.createElement} */ (
    (/** @type {string} */ name, /** @type {ElementCreationOptions | undefined} */ options) => {
      const made = create(name, options);
      if (name === "style") made.nonce = nonce;
      return made;
    }
  );
}

/** A program that asks its terminal something is answered where the terminal is: not by everyone who looks on. */
function answerNothing() {
  const { parser } = terminal;
  for (const id of [
    { final: "c" },
    { prefix: ">", final: "c" },
    { prefix: "=", final: "c" },
    { prefix: ">", final: "q" },
    { final: "n" },
    { prefix: "?", final: "n" },
    { intermediates: "$", final: "p" },
    { prefix: "?", intermediates: "$", final: "p" },
    { final: "t" },
  ]) {
    parser.registerCsiHandler(id, () => true);
  }
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
  for (const number of [4, 10, 11, 12]) parser.registerOscHandler(number, (text) => text.includes("?"));
  // Who looks on comes and goes; the program shall not know.
  parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => params.length === 1 && params[0] === 1004);
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(`${scheme}//${location.host}${address}/pty`, protocols);
  socket = opened;
  opened.addEventListener("message", ({ data }) => receive(opened, JSON.parse(data)));
  opened.addEventListener("close", ({ code }) => lost(code));
}

/** @param {number} code */
function lost(code) {
  terminal.options.disableStdin = true;
  if (code === ENDED) return;
  if (code === NOT_FOUND) return showState("gone", "lost");
  showState("connection lost", "lost");
  const delay = RETRY_MS[Math.min(retries, RETRY_MS.length - 1)];
  retries += 1;
  setTimeout(connect, delay);
}

/** @param {WebSocket} from @param {any} frame */
function receive(from, frame) {
  switch (frame.type) {
    case "session":
      retries = 0;
      return showSession(frame);
    case "screen":
      terminal.reset();
      terminal.resize(frame.columns, frame.rows);
      showSize();
      fillWindow();
      showState("live", "live");
      return take(from, frame.data);
    case "output":
      return take(from, frame.data);
    case "ended":
      return terminal.write("", () => ended(frame.exitCode));
    case "refused":
      return tell(frame.message);
  }
}

/** The next frame is asked for when this one is shown. @param {WebSocket} from @param {string} data */
function take(from, data) {
  terminal.write(data, () => {
    if (from.readyState === WebSocket.OPEN) from.send('{"type":"ready"}');
  });
}

/** @param {string} data */
function type(data) {
  if (!canType || socket?.readyState !== WebSocket.OPEN) return;
  if (data.length > MAX_INPUT) return tell(`This is ${data.length} characters, and ${MAX_INPUT} are allowed at once.`);
  socket.send(JSON.stringify({ type: "input", data }));
}

/** @param {{ command: string, title: string, can_type: boolean }} session */
function showSession({ command, title, can_type }) {
  canType = can_type;
  terminal.options.disableStdin = !canType;
  element("command").textContent = command;
  element("mode").textContent = canType ? "typing allowed" : "view only";
  element("mode").hidden = false;
  element("kill").hidden = !canType;
  showTitle(title);
  if (canType) terminal.focus();
}

/** @param {string} title */
function showTitle(title) {
  element("title").textContent = title.slice(0, 200);
  const command = element("command").textContent ?? "";
  document.title = `${title.slice(0, 80) || command || "Terminal"} · Pawl`;
}

/** @param {number | null} exitCode */
function ended(exitCode) {
  showState(exitCode === null ? "ended" : `ended, exit ${exitCode}`, exitCode === 0 ? "" : "busy");
  element("terminal").classList.add("ended");
  element("kill").hidden = true;
  terminal.options.disableStdin = true;
}

/** @param {string} text @param {string} look */
function showState(text, look) {
  element("state").textContent = text;
  element("state").className = `pill ${look}`;
}

function showSize() {
  element("size").textContent = `${terminal.cols} × ${terminal.rows}`;
}

/** @param {string} text */
function tell(text) {
  element("notice").textContent = text;
  element("notice").hidden = false;
  clearTimeout(toldTimer);
  toldTimer = setTimeout(() => {
    element("notice").hidden = true;
  }, TOLD_MS);
}

async function kill() {
  if (!confirm("End this terminal and everything that runs in it?")) return;
  const answer = await fetch(address, { method: "DELETE", headers: bearing });
  if (!answer.ok) tell(await answer.text());
}

/** As large as the window allows, all rows and columns in sight. */
function fillWindow() {
  const stage = element("stage").getBoundingClientRect();
  const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect();
  const font = terminal.options.fontSize ?? 15;
  if (screen === undefined || screen.width === 0 || screen.height === 0) return;
  const room = { width: stage.width - 64, height: stage.height - 46 };
  const scale = Math.min(room.width / screen.width, room.height / screen.height);
  const wished = Math.floor(font * scale * 2) / 2;
  const next = Math.max(MIN_FONT, Math.min(MAX_FONT, wished));
  if (next !== font) terminal.options.fontSize = next;
}
