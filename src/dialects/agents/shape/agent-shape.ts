import { jsonSchema } from "../../shape/containers.ts";
import { ignored, optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { flag, integer, text } from "../../shape/scalars.ts";
import type { ReadOf } from "../../shape/shape.ts";
import { builtInTool, cost, names, namesSetting, ofModels, plain, seconds, setting, textSetting } from "./parts.ts";

/** An agent: what it is asked, its model, its tools and its limits. */
export const agent = object(
  {
    name: ignored("read with the component."),
    type: ignored("says what the component is."),
    description: optional(text(), "For people and other agents."),
    ...ofModels,
    system_prompt: optional(textSetting(), "What the agent is told first."),
    max_iterations: optional(setting(integer(1, 10_000)), "Turns of the model.", { otherwise: "10" }),
    include_history: optional(setting(flag()), "The agent knows the conversation that `session_id` names."),
    max_cost_usd: optional(setting(cost), "What it may cost, in US dollars."),
    max_total_tokens: optional(setting(integer(1, 1e12)), "Tokens that it may use, in and out."),
    repairs: optional(setting(integer(0, 10)), "How often a wrong answer may be mended."),
    timeout: optional(setting(seconds), "Seconds that it may take."),
    allow: optional(namesSetting(), "The only tools that it gets: `tool`, `server.tool`, `server.*`."),
    approve: optional(namesSetting(), "Tools that need a person's yes, written as under `allow`."),
    exclude: optional(namesSetting(), "Tools that it does not get.", { also: ["exclude_components"] }),
    tools: optional(namesSetting(builtInTool), "Built-in tools: `web_fetch`, `web_search`, `files`, `bash`."),
    output_schema: optional(plain(setting(jsonSchema("output_schema"))), "A JSON Schema of the answer.", {
      also: ["config_validation_schema"],
    }),
    mcp_servers: optional(names(), "Servers whose tools it may have; an empty list: none.", {
      also: ["client_ids"],
      otherwise: "all",
    }),
    llm_config_id: optional(text(), "An `llm` component whose settings stand behind the agent's own."),
  },
  {
    title: "an agent",
    elsewhere: {
      auto: "Name the servers of the agent in `mcp_servers`.",
      mcpServers: "Write `mcp_servers`, a list of names.",
      tool_names: "Write `allow`, a list of tools.",
      prompt: "Write `system_prompt`.",
    },
  },
);

export type ReadAgent = ReadOf<typeof agent>;

const ELSEWHERE = "Keys and addresses of providers belong under `models.providers` in `pawl.yaml`.";

/** Settings of a model that several agents share. */
export const model = object(
  {
    name: ignored("read with the component."),
    llm_id: ignored("read with the component."),
    type: ignored("says what the component is."),
    description: ignored("for people."),
    provider: optional(text(), "The provider, where the model does not name it."),
    ...ofModels,
    model_name: optional(textSetting(), "The model, where there is no `model`."),
    system_prompt: optional(textSetting(), "What agents are told first that have no prompt of their own.", {
      also: ["default_system_prompt"],
    }),
  },
  {
    title: "an llm",
    elsewhere: Object.fromEntries(
      ["api_key", "api_key_env_var", "api_base", "base_url", "api_version"].map((key) => [key, ELSEWHERE]),
    ),
  },
);

export type ReadModel = ReadOf<typeof model>;
