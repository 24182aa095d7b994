import { relative } from "node:path";
import { describeAgents } from "../../../operations/agents/describe-agents.ts";
import { readAgentSources } from "../../../operations/agents/read-agent-sources.ts";
import { showAgent } from "../../../operations/agents/show-agent.ts";
import type { OpenApplication } from "../../../operations/application/application.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

const INVALID = 3;

/** `pawl agents ls`. */
export async function listAgents(app: OpenApplication, options: CommonOptions): Promise<number> {
  const { agents, broken } = await describeAgents(app);
  for (const file of broken)
    tell(`${relative(app.appDir, file)} has problems: see them with \`pawl agents validate\`.`);
  if (formatOf(options) !== "text") printEnvelope({ items: agents, next_cursor: null });
  else {
    const { renderAgents } = await import("../render/render-agents.ts");
    print(renderAgents(agents, pageOptions()));
  }
  return 0;
}

/** `pawl agents show`: what an agent is run with, and where each setting comes from. */
export async function showAgentCommand(app: OpenApplication, name: string, options: CommonOptions): Promise<number> {
  const agent = await showAgent(app, name);
  if (formatOf(options) !== "text") printEnvelope(agent);
  else {
    const { renderAgent } = await import("../render/render-agents.ts");
    print(renderAgent(agent, pageOptions()));
  }
  return 0;
}

/** `pawl agents validate`: every problem of every file that agents are read from. */
export async function validateAgents(app: OpenApplication, options: CommonOptions): Promise<number> {
  const sources = await readAgentSources(app);
  if (formatOf(options) !== "text") {
    printEnvelope(
      sources.map(({ file, isValid, problems, agents, workflows }) => ({
        file,
        valid: isValid,
        agents: agents.map(({ name }) => name),
        workflows: workflows.map(({ name }) => name),
        problems,
      })),
    );
  } else if (sources.length === 0) {
    print("There are no agents here: neither an agents file nor `.claude/agents`.");
  } else {
    print(sources.map((source) => toText(source, app.appDir)).join("\n"));
  }
  return sources.every(({ isValid }) => isValid) ? 0 : INVALID;
}

type Source = Awaited<ReturnType<typeof readAgentSources>>[number];

function toText({ file, isValid, problems, agents, workflows }: Source, appDir: string): string {
  const rendered = problems.map((problem) => `${problem.rendered}\n\n`).join("");
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const shown = relative(appDir, file) || file;
  if (!isValid) return `${rendered}${shown} has ${errors === 1 ? "1 problem" : `${errors} problems`}.`;
  const found = [`${agents.length} agents`, `${workflows.length} workflows`].join(", ");
  return `${rendered}${shown} is valid: ${found}.`;
}
