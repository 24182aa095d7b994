import { isAbsolute, resolve } from "node:path";
import type { Config } from "../../config/load-config.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Place } from "../application/ports.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { executorKindsOf } from "./executor-kinds.ts";

export interface AgentQuestion {
  /** The command's choice. */
  readonly asked?: string;
  readonly settings: JsonObject;
  /** The folder that a script's path is relative to. */
  readonly folder: string;
  readText(path: string): Promise<string>;
}

/** The choice as a run stores it: the provider, and the text of a script, so that editing the file changes no run. */
export interface ChosenAgent {
  readonly agent: string;
  readonly script?: string;
}

/**
 * Who answers the agent steps of a graph, and of those that it calls. Empty: it has none. An error: no one is configured, which
 * matters where there is such a step. Throws what is wrong with what was asked for.
 */
export async function decideAgent(
  app: Place,
  graph: Graph,
  { agent, folder }: { readonly agent?: string | undefined; readonly folder: string },
): Promise<ChosenAgent | JsonObject | PawlError> {
  const { kinds, hasCalls } = executorKindsOf(graph);
  // Steps that ask a model are answered by it, except where answers are made up.
  const isSimulated = (app.config.settings.agent.provider ?? "").startsWith("simulated");
  const asksModels = isSimulated && (kinds.has("inline") || kinds.has("llm"));
  if (agent === undefined && !kinds.has("agent") && !hasCalls && !asksModels) return {};
  try {
    // Configured paths are relative to the application, typed ones to the current folder.
    const question = {
      settings: graph.settings,
      folder: agent === undefined ? app.appDir : folder,
      ...(agent === undefined ? {} : { asked: agent }),
      readText: readTextFile,
    };
    return await chooseAgent(question, app.config);
  } catch (error) {
    if (isPawlError(error) && error.code === "AGENT_NOT_CONFIGURED") return error;
    throw error;
  }
}

const WAYS = [
  "Set SANDSTORM_URL (a Sandstorm server), in the environment or in `.env`;",
  "or write `sandstorm_url` into the definition;",
  "or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (agents inside Pawl);",
  "or run with `--agent simulated` for made-up answers.",
].join(" ");

/**
 * Chooses who answers agent steps: what the command asks for, else the definition's server, else the configured one, else a model
 * for which there is a key. Simulated
 * answers are never a silent fallback. Throws `AGENT_NOT_CONFIGURED` with all ways to configure one.
 */
export async function chooseAgent(question: AgentQuestion, config: Config): Promise<ChosenAgent> {
  const { settings, env } = config;
  const asked = question.asked ?? settings.agent.provider;
  if (asked !== undefined) return readAsked(asked, question, config);
  const named = question.settings["sandstorm_url"];
  const isNamed = typeof named === "string" && resolveEnv(named, env).trim() !== "";
  if (isNamed || settings.agent.sandstorm_url !== undefined) return { agent: "sandstorm" };
  if (hasModel(config)) return { agent: "inline" };
  throw new PawlError("AGENT_NOT_CONFIGURED", { message: "No one is configured to answer agent steps.", remedy: WAYS });
}

/** A key of a provider, or a model for everything that names none: agents can run in this process. */
function hasModel({ settings }: Config): boolean {
  const { anthropic_api_key, openai_api_key, google_api_key } = settings.agent;
  return [anthropic_api_key, openai_api_key, google_api_key, settings.models.default].some((set) => set !== undefined);
}

async function readAsked(asked: string, question: AgentQuestion, { settings, env }: Config): Promise<ChosenAgent> {
  if (asked === "simulated") return { agent: asked };
  if (asked.startsWith("simulated:")) {
    const file = asked.slice("simulated:".length);
    const path = isAbsolute(file) ? file : resolve(question.folder, file);
    return { agent: `simulated:${path}`, script: await question.readText(path) };
  }
  if (asked === "sandstorm") {
    const named = question.settings["sandstorm_url"];
    const isNamed = typeof named === "string" && resolveEnv(named, env).trim() !== "";
    if (isNamed || settings.agent.sandstorm_url !== undefined) return { agent: asked };
    throw new PawlError("AGENT_NOT_CONFIGURED", { message: "`--agent sandstorm` needs SANDSTORM_URL.", remedy: WAYS });
  }
  // Which key is missing is said when a step names its model.
  if (asked === "inline") return { agent: asked };
  throw new PawlError("USAGE", {
    message: `There is no agent "${asked}".`,
    remedy: "Use `--agent sandstorm`, `--agent inline`, `--agent simulated` or `--agent simulated:SCRIPT.yaml`.",
  });
}
