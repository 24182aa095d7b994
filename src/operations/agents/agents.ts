import { relative } from "node:path";
import { z } from "zod";
import type { Place, Principal } from "../application/ports.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type Frozen, idField, jsonObjectSchema, listOf } from "../schemas.ts";
import { readAgentSources } from "./read-agent-sources.ts";
import { showAgent as show, shownAgentSchema, toOrigin } from "./show-agent.ts";

const INVALID = 3;

const OF_THIS_MACHINE = { no: "It is about files of this machine." };

const common = { scope: "read", effect: "reads", mcp: OF_THIS_MACHINE } as const;

const summarySchema = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    model: z.string().nullable().describe("null: the configured one."),
    clients: z.array(z.string()).nullable().describe("Names of the MCP servers that it may use; null: all."),
    origin: z.string().describe("The place, relative to the application."),
  })
  .meta({ id: "AgentSummary" });

export const listAgents = defineOperation({
  ...common,
  id: "listAgents",
  summary: "List the agents of the application",
  input: z.strictObject({}),
  output: listOf(summarySchema).extend({
    broken: z.array(z.string()).describe("Files with problems, relative to the application."),
  }),
  http: { method: "GET", path: "/agents" },
  cli: {
    verb: "agents ls",
    table: {
      empty: "There are no agents. Write them into `agents.json`, or into `.claude/agents`.",
      columns: ({ name, model, clients, origin, description }) => ({
        NAME: name,
        MODEL: model ?? "default",
        SERVERS: clients === null ? "all" : clients.join(", ") || "none",
        WHERE: origin,
        DESCRIPTION: description,
      }),
    },
    show: ({ broken }) => ({
      told: broken.map((file) => `${file} has problems: see them with \`pawl agents validate\`.`),
    }),
  },
  word: ({ name, description }) => ({ text: name, meaning: description ?? "" }),
  async handle({ app }: OperationContext<Place>) {
    const { agents, broken } = await describeAgents(app);
    return { items: agents, next_cursor: null, broken: broken.map((file) => relative(app.appDir, file)) };
  },
});

export const showAgent = defineOperation({
  ...common,
  id: "showAgent",
  summary: "Show what an agent is run with, and where that comes from",
  input: z.strictObject({ name: idField("The agent's name.", "agents ls") }),
  output: shownAgentSchema,
  errors: ["AGENT_NOT_FOUND"],
  http: { method: "GET", path: "/agents/{name}" },
  cli: { verb: "agents show", args: ["name"], view: "agent" },
  handle: ({ app }: OperationContext<Place & Principal>, { name }) => show(app, name),
});

const sourceSchema = z.object({
  file: z.string().describe("Relative to the application."),
  valid: z.boolean(),
  agents: z.array(z.string()),
  workflows: z.array(z.string()),
  problems: z.array(jsonObjectSchema),
});

export const validateAgents = defineOperation({
  ...common,
  id: "validateAgents",
  summary: "Show every problem of the files that agents are read from",
  input: z.strictObject({}),
  output: z.array(sourceSchema),
  http: OF_THIS_MACHINE,
  cli: {
    verb: "agents validate",
    show: (sources) => ({
      data:
        sources.length === 0
          ? "There are no agents here: neither an agents file nor `.claude/agents`."
          : sources.map(toText).join("\n"),
    }),
    exitCodeOf: (sources) => (sources.every(({ valid }) => valid) ? 0 : INVALID),
  },
  async handle({ app }: OperationContext<Place>) {
    const sources = await readAgentSources(app);
    return sources.map(({ file, isValid, problems, agents, workflows }) => ({
      file: relative(app.appDir, file) || file,
      valid: isValid,
      agents: agents.map(({ name }) => name),
      workflows: workflows.map(({ name }) => name),
      problems: problems.map(describeProblem),
    }));
  },
});

function toText({ file, valid, problems, agents, workflows }: z.output<typeof sourceSchema>): string {
  const rendered = problems.map((problem) => `${String(problem["rendered"])}\n\n`).join("");
  const errors = problems.filter((problem) => problem["severity"] === "error").length;
  if (!valid) return `${rendered}${file} has ${errors === 1 ? "1 problem" : `${errors} problems`}.`;
  return `${rendered}${file} is valid: ${agents.length} agents, ${workflows.length} workflows.`;
}

type AgentSummary = Frozen<z.output<typeof summarySchema>>;

interface AgentOverview {
  readonly agents: readonly AgentSummary[];
  /** Files that cannot be used, absolute. */
  readonly broken: readonly string[];
}

/** The application's agents: of the agents file, then of `.claude/agents`. Of two of the same name the first counts. */
async function describeAgents(app: Pick<Place, "appDir" | "config">): Promise<AgentOverview> {
  const sources = await readAgentSources(app);
  const seen = new Set<string>();
  const agents = sources
    .flatMap((source) => source.agents)
    .filter(({ name }) => !seen.has(name) && seen.add(name))
    .map(({ name, description, place, settings = [] }): AgentSummary => {
      const settingOf = (setting: string) => settings.find((each) => each.name === setting)?.value;
      const model = settingOf("model");
      const clients = settingOf("clients");
      return {
        name,
        description: description ?? null,
        model: typeof model === "string" ? model : null,
        clients: Array.isArray(clients) ? clients.map(String) : null,
        origin: toOrigin(place, app.appDir),
      };
    });
  return { agents, broken: sources.filter(({ isValid }) => !isValid).map(({ file }) => file) };
}
