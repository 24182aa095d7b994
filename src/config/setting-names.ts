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
  name("agent.google_api_key", { env: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"], isSecret: true }),
  name("agent.e2b_api_key", { env: ["E2B_API_KEY"], isSecret: true }),
  name("agent.idle_timeout_ms"),
  name("agent.connect_timeout_ms"),
  name("agent.patience_ms"),
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
  name("secrets.env"),
  name("secrets.key", { isSecret: true }),
  name("webhook.secret", { env: ["WEBHOOK_SECRET"], isSecret: true }),
  name("webhook.previous_secret", { env: ["WEBHOOK_PREVIOUS_SECRET"], isSecret: true }),
  name("webhook.max_attempts"),
  name("webhook.timeout_ms"),
  name("webhook.retry_delay_ms"),
  name("notify.smtp_url", { env: ["SMTP_URL"], isSecret: true }),
  name("notify.email_from", { env: ["SMTP_FROM"] }),
  name("server.api_key", { env: ["API_KEY"], isSecret: true }),
  name("server.host"),
  name("server.port"),
  name("server.max_body_bytes"),
  name("server.request_timeout_ms"),
  name("server.rate_limit_per_minute"),
  name("server.cors_origins"),
  name("server.max_in_flight"),
  name("server.stop_grace_ms"),
  name("server.debug"),
  name("server.context"),
  name("client.url", { env: ["SANDCASTLE_URL"], later: "Commands work on the data directory" }),
  name("client.api_key", { env: ["SANDCASTLE_API_KEY"], isSecret: true, later: "Commands work on the data directory" }),
  name("agents.config_path", { env: ["HOST_CONFIG_PATH"] }),
  name("uhlp.sandbox_port", { env: ["UHLP_SANDBOX_PORT"] }),
  name("uhlp.mcp_endpoint", { env: ["UHLP_MCP_ENDPOINT"] }),
  name("uhlp.allowed_endpoints"),
  name("uhlp.max_steps"),
  name("code.sandbox"),
  name("code.python"),
  name("code.node_modules"),
  name("code.timeout_ms"),
  name("code.memory_bytes"),
  name("code.max_output_bytes"),
  name("code.max_processes"),
  name("models.default"),
  name("models.repairs"),
  name("models.timeout_ms"),
  name("models.aliases"),
  name("models.providers"),
  name("models.prices"),
  name("mcp.audit_log_path", { env: ["MCP_AUDIT_LOG_PATH"] }),
  name("mcp.servers"),
  name("mcp.timeout_ms"),
  name("mcp.idle_ms"),
  name("mcp.allow_commands"),
  name("outbound.allow"),
  name("reports.chromium"),
  name("inputs.folders"),
  name("terminal.level"),
  name("terminal.backend"),
  name("terminal.max_calls_per_minute"),
  name("terminal.max_sessions"),
  name("terminal.default_shell"),
  name("terminal.isolate_history"),
  name("terminal.columns"),
  name("terminal.rows"),
  name("terminal.scrollback_rows"),
  name("terminal.sweep_after_ms"),
  name("terminal.env_allow"),
  name("terminal.record"),
  name("terminal.record_sessions"),
  name("terminal.record_max_bytes"),
  name("terminal.web_enabled"),
  name("terminal.web_host"),
  name("terminal.web_port"),
  name("terminal.web_token", { isSecret: true }),
  name("terminal.web_input"),
  name("log.level", { env: ["LOG_LEVEL"] }),
  name("log.format", { env: ["LOG_FORMAT"] }),
  name("telemetry.otlp_endpoint", { env: ["OTEL_EXPORTER_OTLP_ENDPOINT"] }),
  name("telemetry.otlp_headers", { env: ["OTEL_EXPORTER_OTLP_HEADERS"], isSecret: true }),
  name("telemetry.service_name", { env: ["OTEL_SERVICE_NAME"] }),
  name("metrics.enabled"),
  name("metrics.access"),
  name("metrics.tenant_label"),
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
