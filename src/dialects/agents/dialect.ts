import { type Dialect, keys, type Reach, words } from "../dialect.ts";
import { hasAgentsShape } from "./component.ts";
import { isAgentFile } from "./front-matter.ts";
import type { ReadAgent, ReadModel } from "./shape/agent-shape.ts";
import type { ReadServer } from "./shape/server-shape.ts";

const reach: Reach<ReadServer | ReadAgent | ReadModel> = {
  ...words("name", "llm_id", "type", "description", "provider", "model", "model_name", "system_prompt"),
  ...words("temperature", "max_tokens", "client_id", "capabilities", "registration_timeout", "timeout"),
  ...words("allow", "approve", "output_schema", "max_cost_usd", "max_iterations", "include_history"),
  ...words("max_total_tokens", "repairs"),
  ...words("routing_weight", "exclude", "required", "start", "protocol", "llm_config_id", "elicitation", "sampling"),
  ...keys(["commands", "variables"], "server_path", "command", "args", "env", "cwd", "venv"),
  ...keys(["own-servers", "variables", "addresses"], "url", "headers", "oauth"),
  ...keys(["own-servers", "commands"], "transport_type"),
  ...keys(["variables"], "roots"),
  ...keys(["servers"], "mcp_servers"),
  ...keys(["servers", "code"], "tools"),
};

export const agents: Dialect = {
  name: "agents",
  looksLike: "`agents`, `clients` or `components`, or a list of components with a `type`",
  hasShape: hasAgentsShape,
  async compile(...text) {
    const { compileAgents } = await import("./compile.ts");
    return compileAgents(...text);
  },
  isStrictJson: true,
  compileFile(definition, { select }) {
    if (!isAgentFile(definition)) return undefined;
    return import("./compile.ts").then(({ compileAgentFile }) => compileAgentFile(definition, select));
  },
  reach,
};
