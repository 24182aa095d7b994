import { z } from "zod";
import { DEFAULTS, type McpServerSettings, type Settings, type TerminalSettings } from "./settings.ts";

const text = z.string().optional();
const milliseconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);
const bytes = z.coerce.number().int().min(1_024);
const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(100_000);
const texts = z.record(z.string(), z.string());
/** People write `"PORT": 8080` and `"DEBUG": true` where only texts can be. */
const looseTexts = z.record(
  z.string(),
  z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]),
);
/** In the environment: separated by commas. */
const listOfTexts = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",").map((part) => part.trim()) : value),
  z.array(z.string()),
);
/** As browsers write them, or none would ever be equal to one. */
const listOfOrigins = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",").map((part) => part.trim()) : value),
  z.array(z.string().refine((text) => URL.parse(text)?.origin === text, "is no origin such as `https://app.example`")),
);
const flag = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
const { data, limits, agent, storage, webhook, log, metrics, telemetry, server, uhlp, code, models, mcp, secrets } =
  DEFAULTS;

const provider = z.strictObject({
  kind: z.enum(["anthropic", "openai", "google", "openai-compatible"]),
  base_url: text,
  api_key: text,
  headers: texts.optional(),
});
const price = z.strictObject({ input: z.number().min(0), output: z.number().min(0) });
// What other programs write beside this in the same file is theirs.
export const mcpServerSchema: z.ZodType<McpServerSettings> = z.object({
  type: z.enum(["stdio", "http", "streamable-http", "sse"]).optional(),
  command: text,
  args: z.array(z.string()).optional(),
  env: looseTexts.optional(),
  cwd: text,
  url: text,
  headers: texts.optional(),
  timeout: milliseconds.optional(),
  protocol: z.enum(["auto", "legacy", "2026-07-28"]).optional(),
  tools: z.strictObject({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() }).optional(),
  server_path: text,
  venv: text,
  roots: z.array(z.union([z.string(), z.object({ uri: z.string(), name: text })])).optional(),
  timeout_ms: milliseconds.optional(),
  routing_weight: z.coerce.number().optional(),
  exclude: z.array(z.string()).optional(),
  start: z.enum(["lazy", "eager"]).optional(),
});

/** Also for what another file says about terminals. */
export const terminalSettingsSchema: z.ZodType<TerminalSettings> = z.strictObject({
  level: z.enum(["off", "low", "medium", "high"]).optional(),
  backend: z.enum(["pty", "tmux"]).optional(),
  max_calls_per_minute: count.optional(),
  max_sessions: count.optional(),
  default_shell: text,
  isolate_history: flag.optional(),
  columns: z.coerce.number().int().min(2).max(1_000).optional(),
  rows: z.coerce.number().int().min(1).max(1_000).optional(),
  scrollback_rows: z.coerce.number().int().min(0).max(100_000).optional(),
  sweep_after_ms: milliseconds.optional(),
  env_allow: listOfTexts.optional(),
  record: flag.optional(),
  record_sessions: flag.optional(),
  record_max_bytes: z.coerce.number().int().min(1_024).max(1_073_741_824).optional(),
  web_enabled: flag.optional(),
  web_host: text,
  web_port: port.optional(),
  web_token: z.string().min(16).optional(),
  web_input: flag.optional(),
});

/**
 * Checks settings from every origin; numbers may be texts, as the environment has no others. Loading zod costs more
 * than everything else that a small run does, so this module is imported only where something is configured.
 */
export const settingsSchema: z.ZodType<Settings> = z.strictObject({
  data: section({ dir: text, durability: z.enum(["power", "process"]).default(data.durability) }),
  limits: section({
    max_output_bytes: z.coerce.number().int().min(1_024).default(limits.max_output_bytes),
    max_rows_per_commit: z.coerce.number().int().min(1).max(100_000).default(limits.max_rows_per_commit),
  }),
  agent: section({
    provider: text,
    sandstorm_url: text,
    sandstorm_api_key: text,
    anthropic_api_key: text,
    openai_api_key: text,
    google_api_key: text,
    e2b_api_key: text,
    idle_timeout_ms: milliseconds.default(agent.idle_timeout_ms),
    connect_timeout_ms: milliseconds.default(agent.connect_timeout_ms),
    patience_ms: z.coerce.number().int().min(0).max(3_600_000).default(agent.patience_ms),
    simulated_delay_factor: z.coerce.number().min(0).max(1_000).default(agent.simulated_delay_factor),
  }),
  storage: section({
    backend: z.enum(["local", "s3"]).default(storage.backend),
    bucket: text,
    endpoint: text,
    aws_access_key_id: text,
    aws_secret_access_key: text,
    aws_session_token: text,
    aws_region: text,
  }),
  database: section({ url: text }),
  redis: section({ url: text }),
  secrets: section({ env: listOfTexts.default([...secrets.env]), key: z.string().min(16).optional() }),
  webhook: section({
    secret: text,
    previous_secret: text,
    max_attempts: z.coerce.number().int().min(1).max(100).default(webhook.max_attempts),
    timeout_ms: z.coerce.number().int().min(100).max(600_000).default(webhook.timeout_ms),
    retry_delay_ms: z.coerce.number().int().min(1).max(3_600_000).default(webhook.retry_delay_ms),
  }),
  notify: section({ smtp_url: text, email_from: text }),
  server: section({
    api_key: text,
    host: z.string().default(server.host),
    port: port.default(server.port),
    max_body_bytes: bytes.default(server.max_body_bytes),
    request_timeout_ms: milliseconds.default(server.request_timeout_ms),
    rate_limit_per_minute: z.coerce.number().int().min(0).max(1_000_000).optional(),
    cors_origins: listOfOrigins.default([...server.cors_origins]),
    max_in_flight: z.coerce.number().int().min(1).max(100_000).default(server.max_in_flight),
    stop_grace_ms: z.coerce.number().int().min(0).max(600_000).default(server.stop_grace_ms),
    debug: flag.default(server.debug),
    context: z
      .preprocess(
        parseJsonText,
        z.strictObject({
          headers: texts.optional(),
          workflow: text,
          configuration: z.record(z.string(), z.unknown()).optional(),
        }),
      )
      .default(server.context),
  }),
  client: section({ url: text, api_key: text }),
  agents: section({ config_path: text }),
  uhlp: section({
    sandbox_port: port.optional(),
    mcp_endpoint: text,
    allowed_endpoints: listOfTexts.default([...uhlp.allowed_endpoints]),
    max_steps: z.coerce.number().int().min(1).max(100_000).default(uhlp.max_steps),
  }),
  code: section({
    sandbox: z.enum(["auto", "required", "off"]).default(code.sandbox),
    python: text,
    node_modules: text,
    timeout_ms: milliseconds.default(code.timeout_ms),
    memory_bytes: bytes.default(code.memory_bytes),
    max_output_bytes: bytes.default(code.max_output_bytes),
    max_processes: z.coerce.number().int().min(1).max(10_000).default(code.max_processes),
  }),
  models: section({
    default: text,
    repairs: z.coerce.number().int().min(0).max(10).default(models.repairs),
    timeout_ms: milliseconds.default(models.timeout_ms),
    aliases: mapOf(z.string()),
    providers: mapOf(provider),
    prices: mapOf(price),
  }),
  outbound: section({ allow: listOfTexts.default([]) }),
  reports: section({ chromium: text }),
  inputs: section({ folders: listOfTexts.default([]) }),
  mcp: section({
    audit_log_path: text,
    servers: mapOf(mcpServerSchema),
    timeout_ms: milliseconds.default(mcp.timeout_ms),
    idle_ms: milliseconds.default(mcp.idle_ms),
    allow_commands: flag.default(mcp.allow_commands),
  }),
  terminal: terminalSettingsSchema,
  log: section({
    level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default(log.level),
    format: z.enum(["auto", "json", "pretty"]).default(log.format),
  }),
  telemetry: section({
    otlp_endpoint: z.url({ protocol: /^https?$/ }).optional(),
    otlp_headers: text,
    service_name: z.string().min(1).default(telemetry.service_name),
  }),
  metrics: section({
    enabled: flag.default(metrics.enabled),
    access: z.enum(["read", "open"]).default(metrics.access),
    tenant_label: flag.default(metrics.tenant_label),
  }),
});

/** In the environment: JSON. */
function mapOf<Value extends z.ZodType>(value: Value) {
  return z.preprocess(parseJsonText, z.record(z.string(), value)).default({});
}

function parseJsonText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape);
}
