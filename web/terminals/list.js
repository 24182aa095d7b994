// The page that lists the terminals. All that comes from outside is set as text, never as markup.

import { bearing } from "/terminals/assets/token.js";

const REFRESH_MS = 1_500;
const LOST_AFTER = 2;

const body = /** @type {HTMLTableSectionElement} */ (document.querySelector("#sessions tbody"));
let failures = 0;

/**
 * @typedef {{ session_id: string, command: string, title: string, state: string, columns: number, rows: number,
 *   created_at: string, last_activity: string, exit_code?: number | null }} Session
 */

/** @param {string} id */
function addressOf(id) {
  return `/terminals/${encodeURIComponent(id)}`;
}

/** @param {string} id */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} text */
function tell(text) {
  element("notice").textContent = text;
  element("notice").hidden = text === "";
}

/** @param {number} ms */
function formatAge(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** @param {string} text @param {string} [name] */
function cell(text, name = "") {
  const td = document.createElement("td");
  td.className = name;
  td.textContent = text;
  return td;
}

/** @param {Session} session */
function programCell({ session_id, command, title }) {
  const td = cell("", "program");
  const link = document.createElement("a");
  link.href = addressOf(session_id);
  link.textContent = command;
  link.dataset["place"] = `link-${session_id}`;
  td.append(link);
  if (title !== "") {
    const small = document.createElement("small");
    small.textContent = title;
    td.append(small);
  }
  return td;
}

/** @param {Session} session */
function stateCell({ state, exit_code }) {
  const td = cell("");
  const pill = document.createElement("span");
  pill.className = `pill ${state === "waiting" ? "busy" : state === "error" ? "lost" : state === "terminated" ? "" : "live"}`;
  pill.textContent = exit_code === undefined || exit_code === null ? state : `${state}, exit ${exit_code}`;
  td.append(pill);
  return td;
}

/** @param {string} id */
async function kill(id) {
  if (!confirm(`End ${id} and everything that runs in it?`)) return;
  const answer = await fetch(addressOf(id), { method: "DELETE", headers: bearing });
  if (!answer.ok) tell(await answer.text());
  await refresh();
}

/** @param {Session} session @param {boolean} canType */
function actionsCell({ session_id }, canType) {
  const td = cell("", "number");
  if (!canType) return td;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "danger";
  button.textContent = "End";
  button.dataset["place"] = `end-${session_id}`;
  button.addEventListener("click", () => void kill(session_id));
  td.append(button);
  return td;
}

/** @param {readonly Session[]} sessions @param {boolean} canType */
function show(sessions, canType) {
  const now = Date.now();
  const rows = sessions.map((session) => {
    const row = document.createElement("tr");
    row.append(
      programCell(session),
      stateCell(session),
      cell(`${session.columns} × ${session.rows}`, "number"),
      cell(formatAge(now - Date.parse(session.created_at)), "number"),
      cell(formatAge(now - Date.parse(session.last_activity)), "number"),
      cell(session.session_id, "id"),
      actionsCell(session, canType),
    );
    return row;
  });
  const place = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["place"] : undefined;
  body.replaceChildren(...rows);
  // The keyboard stays where it was.
  if (place !== undefined) body.querySelector(`[data-place="${CSS.escape(place)}"]`)?.focus();
  element("sessions").hidden = sessions.length === 0;
  element("empty").hidden = sessions.length > 0;
  element("count").textContent = sessions.length === 0 ? "" : String(sessions.length);
  element("mode").textContent = canType ? "typing allowed" : "view only";
  element("mode").hidden = false;
}

async function refresh() {
  try {
    const answer = await fetch("/terminals", { headers: { ...bearing, accept: "application/json" } });
    if (!answer.ok) return tell(await answer.text());
    const { data } = await answer.json();
    show(data.items, data.can_type);
    failures = 0;
    tell("");
  } catch {
    failures += 1;
    if (failures >= LOST_AFTER) tell("The process that holds the terminals does not answer. It may have ended.");
  }
}

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(() => void keepFresh(), REFRESH_MS);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void refresh();
});
void keepFresh();
