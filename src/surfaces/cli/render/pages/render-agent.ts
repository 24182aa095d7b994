import type { ShownAgent } from "../../../../operations/agents/show-agent.ts";
import type { PageOptions } from "../text/page-options.ts";
import { sanitize } from "../text/sanitize.ts";
import type { Segment } from "../text/segment.ts";
import { renderTable } from "../text/table.ts";

type Page = Pick<PageOptions, "paint" | "width">;

const LONGEST_VALUE = 100;

/** The page of `pawl agents show`. */
export function renderAgent({ name, description, origin, settings, servers }: ShownAgent, page: Page): string {
  const head = [`${line(name)}  (${line(origin)})`, ...(description === null ? [] : [line(description)])];
  const rows = settings.map(({ setting, value, origin: from }): Segment[] => [
    { text: setting },
    { text: cut(value === null ? "(not set)" : typeof value === "string" ? value : JSON.stringify(value)) },
    { text: line(from) },
  ]);
  const table = renderTable([{ title: "SETTING" }, { title: "VALUE" }, { title: "FROM" }], rows, page);
  const serverRows = servers.map((server): Segment[] => [
    { text: line(server.name) },
    { text: cut(server.reached) },
    { text: line(server.origin) },
  ]);
  const reached =
    servers.length === 0
      ? "No MCP servers."
      : renderTable([{ title: "SERVER" }, { title: "REACHED BY" }, { title: "FROM" }], serverRows, page);
  return [...head, "", table, "", reached].join("\n");
}

function line(text: string): string {
  return sanitize(text).replace(/\s+/g, " ");
}

function cut(text: string): string {
  const short = line(text);
  return short.length <= LONGEST_VALUE ? short : `${short.slice(0, LONGEST_VALUE - 1)}…`;
}
