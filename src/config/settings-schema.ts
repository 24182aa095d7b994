import { z } from "zod";
import { DEFAULTS, type Settings } from "./settings.ts";

const text = z.string().optional();
const milliseconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);
const { data, limits, agent, storage, log } = DEFAULTS;

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
    e2b_api_key: text,
    idle_timeout_ms: milliseconds.default(agent.idle_timeout_ms),
    connect_timeout_ms: milliseconds.default(agent.connect_timeout_ms),
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
  webhook: section({ secret: text }),
  server: section({ api_key: text }),
  client: section({ url: text, api_key: text }),
  agents: section({ config_path: text }),
  uhlp: section({ sandbox_port: z.coerce.number().int().min(1).max(65_535).optional(), mcp_endpoint: text }),
  mcp: section({ audit_log_path: text }),
  log: section({ level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default(log.level) }),
});

function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape);
}
