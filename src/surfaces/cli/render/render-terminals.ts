import type { TerminalSummary } from "../../../ports/terminals/terminal-views.ts";
import { formatDuration } from "./format-duration.ts";
import type { PageOptions } from "./page-options.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl terminals ls`. */
export function renderTerminals(sessions: readonly TerminalSummary[], { paint, now, width }: PageOptions): string {
  if (sessions.length === 0) return "No terminal is open.";
  const columns = [
    { title: "ID" },
    { title: "STATE" },
    { title: "SIZE" },
    { title: "OPEN FOR", align: "right" } as const,
    { title: "QUIET FOR", align: "right" } as const,
    { title: "PROGRAM" },
  ];
  const rows = sessions.map((session): Segment[] => {
    const { session_id, command, title, state, exit_code: exitCode } = session;
    const program = sanitize(command);
    return [
      { text: session_id },
      { text: typeof exitCode === "number" ? `${state} (${exitCode})` : state },
      { text: `${session.columns}x${session.rows}` },
      { text: formatDuration(now - Date.parse(session.created_at)) },
      { text: formatDuration(now - Date.parse(session.last_activity)) },
      { text: title === "" ? program : `${program} (${sanitize(title)})` },
    ];
  });
  const table = renderTable(columns, rows, { paint, width });
  const listUrl = sessions.map(({ web_url: url }) => url).find((url) => url !== null);
  return listUrl === undefined ? table : `${table}\n\nIn a browser: ${toListUrl(listUrl)}`;
}

/** The page of all sessions stands above that of one; both take the token. */
function toListUrl(url: string): string {
  const list = new URL(url);
  list.pathname = list.pathname.slice(0, list.pathname.lastIndexOf("/"));
  return list.href;
}
