import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { StepDefinition } from "./parse-step.ts";
import type { Template } from "./references/template.ts";

/** Agent servers bring tools of their own; an agent of Pawl itself has those that its step lists. */
export function reportUnreachableSites(steps: readonly StepDefinition[], problems: ProblemList): void {
  for (const { id, at, body } of steps) {
    if (body.type !== "agent" || body.call.tools?.some(mayReadSites) === true) continue;
    const site = findSite(body.call.prompt);
    if (site === undefined) continue;
    const message = `Step '${toExcerpt(id)}' asks for ${toExcerpt(site)}, and its agent has no tool to read it.`;
    problems.warning({ code: "SITE_WITHOUT_TOOL", at, message });
  }
}

/** Every tool of an MCP server may. */
function mayReadSites(tool: string): boolean {
  return tool !== "files";
}

const URL = /https?:\/\/[^\s"'<>)\]]+/;
const NAMES_OF_SITES = /^(url|website|web_site|homepage|link)$/i;

/** An address, or a value whose name says that it is one. */
function findSite({ parts }: Template): string | undefined {
  for (const part of parts) {
    if (typeof part === "string") {
      const url = URL.exec(part)?.[0];
      if (url !== undefined) return url;
    } else if ("path" in part.reference && NAMES_OF_SITES.test(String(part.reference.path.at(-1)))) return part.written;
  }
  return undefined;
}
