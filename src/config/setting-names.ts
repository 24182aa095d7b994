/** What a setting is called outside of `pawl.yaml`, and how it is treated. */
export interface SettingName {
  readonly section: string;
  readonly key: string;
  /** Beside `PAWL_SECTION__KEY`: the names that other programs and the published formats use. */
  readonly env: readonly string[];
  readonly isSecret: boolean;
  /** Accepted already, used by a later version: what happens instead today. */
  readonly later: string | undefined;
}

const IN_SQLITE = "Runs are kept in SQLite in the data directory";
const LOCAL_FILES = "Files are kept in the data directory";
const SERVE_LATER = "It belongs to `pawl serve`, which arrives later";
const UHLP_LATER = "It belongs to UHLP workflows, which arrive later";

/** In the order in which `pawl config` shows them. */
export const SETTING_NAMES: readonly SettingName[] = [
  name("data.dir", { env: ["PAWL_DATA"] }),
  name("data.durability"),
  name("limits.max_output_bytes"),
  name("limits.max_rows_per_commit"),
  name("agent.provider"),
  name("agent.sandstorm_url", { env: ["SANDSTORM_URL"] }),
  name("agent.sandstorm_api_key", { env: ["SANDSTORM_API_KEY"], isSecret: true }),
  name("agent.anthropic_api_key", { env: ["ANTHROPIC_API_KEY"], isSecret: true }),
  name("agent.openai_api_key", { env: ["OPENAI_API_KEY"], isSecret: true }),
  name("agent.e2b_api_key", { env: ["E2B_API_KEY"], isSecret: true }),
  name("agent.idle_timeout_ms"),
  name("agent.connect_timeout_ms"),
  name("agent.simulated_delay_factor"),
  name("storage.backend", { env: ["STORAGE_BACKEND"] }),
  name("storage.bucket", { env: ["STORAGE_BUCKET"], later: LOCAL_FILES }),
  name("storage.endpoint", { env: ["STORAGE_ENDPOINT"], later: LOCAL_FILES }),
  name("storage.aws_access_key_id", { env: ["AWS_ACCESS_KEY_ID"], isSecret: true, later: LOCAL_FILES }),
  name("storage.aws_secret_access_key", { env: ["AWS_SECRET_ACCESS_KEY"], isSecret: true, later: LOCAL_FILES }),
  name("storage.aws_session_token", { env: ["AWS_SESSION_TOKEN"], isSecret: true, later: LOCAL_FILES }),
  name("storage.aws_region", { env: ["AWS_REGION", "AWS_DEFAULT_REGION"], later: LOCAL_FILES }),
  name("database.url", { env: ["DATABASE_URL"], isSecret: true, later: IN_SQLITE }),
  name("redis.url", { env: ["REDIS_URL"], isSecret: true, later: "This process wakes its own runs" }),
  name("webhook.secret", { env: ["WEBHOOK_SECRET"], isSecret: true, later: "Webhooks are stored and delivered later" }),
  name("server.api_key", { env: ["API_KEY"], isSecret: true, later: SERVE_LATER }),
  name("client.url", { env: ["SANDCASTLE_URL"], later: "Commands work on the data directory" }),
  name("client.api_key", { env: ["SANDCASTLE_API_KEY"], isSecret: true, later: "Commands work on the data directory" }),
  name("agents.config_path", { env: ["HOST_CONFIG_PATH"], later: "The agents format arrives later" }),
  name("uhlp.sandbox_port", { env: ["UHLP_SANDBOX_PORT"], later: UHLP_LATER }),
  name("uhlp.mcp_endpoint", { env: ["UHLP_MCP_ENDPOINT"], later: UHLP_LATER }),
  name("mcp.audit_log_path", { env: ["MCP_AUDIT_LOG_PATH"], later: "MCP arrives later" }),
  name("log.level", { env: ["LOG_LEVEL"] }),
];

/** The first one goes before the others. */
export function envNamesOf({ section, key, env }: SettingName): readonly string[] {
  return [`PAWL_${section}__${key}`.toUpperCase(), ...env];
}

function name(
  path: `${string}.${string}`,
  rest: { readonly env?: readonly string[]; readonly isSecret?: boolean; readonly later?: string } = {},
): SettingName {
  const dot = path.indexOf(".");
  const { env = [], isSecret = false, later } = rest;
  return { section: path.slice(0, dot), key: path.slice(dot + 1), env, isSecret, later };
}
