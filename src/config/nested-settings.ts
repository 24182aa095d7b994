import { z } from "zod";

const text = z.string().optional();
const texts = z.record(z.string(), z.string());
const milliseconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);

const count = z.coerce.number().int().min(1).max(1_000_000);

const keepRule = {
  days: z.coerce.number().positive().max(36_500).optional(),
  runs: z.coerce.number().int().min(1).optional(),
};

const keepOfStatus = z
  .strictObject(keepRule)
  .refine(({ days, runs }) => days !== undefined || runs !== undefined, "says neither `days` nor `runs`")
  .optional();

/** Claude Code has names of its own for two of these. */
const oauth = z
  .strictObject({
    client_id: text,
    clientId: text,
    client_secret: text,
    scope: text,
    issuer: text,
    redirect_url: text,
    callbackPort: z.number().int().min(1).max(65_535).optional(),
    grant: z.literal("client_credentials").optional(),
    private_key: text,
    algorithm: text,
  })
  .transform(({ clientId, callbackPort, ...given }) => ({
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(callbackPort === undefined ? {} : { redirect_url: `http://localhost:${callbackPort}/callback` }),
    ...given,
  }))
  .refine(
    ({ grant, client_id }) => grant === undefined || client_id !== undefined,
    "names a `grant` without a `client_id`",
  );

// Other programs write keys of their own into the same file, so unknown ones are let through.
export const mcpServerSchema = z.object({
  type: z.enum(["stdio", "http", "streamable-http", "sse"]).optional(),
  command: text,
  args: z.array(z.string()).readonly().optional(),
  /** People write `"PORT": 8080`, `"CHANNEL": 1234567890123456789` and `"DEBUG": true` though only texts are meant. */
  env: z
    .record(
      z.string(),
      z.union([z.string(), ...[z.number(), z.bigint(), z.boolean()].map((each) => each.transform(String))]),
    )
    .readonly()
    .optional(),
  cwd: text,
  url: text,
  headers: texts.optional(),
  oauth: oauth.optional(),
  timeout: milliseconds.optional(),
  protocol: z.enum(["auto", "legacy", "2026-07-28"]).optional(),
  tools: z.strictObject({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() }).optional(),
  // The rest is for agents, and the same in an agents file.
  server_path: text,
  venv: text,
  roots: z.array(z.union([z.string(), z.object({ uri: z.string(), name: text })])).optional(),
  elicitation: z.enum(["ask", "refuse"]).optional(),
  sampling: z
    .union([
      z.literal("allow").transform(() => ({})),
      z.strictObject({ model: text, max_tokens: count.optional(), max_calls: count.optional() }),
    ])
    .optional(),
  timeout_ms: milliseconds.optional(),
  routing_weight: z.coerce.number().optional(),
  exclude: z.array(z.string()).optional(),
  required: z.boolean().optional(),
  start: z.enum(["lazy", "eager"]).optional(),
});

/** One entry of an `mcpServers` map. `${NAME}` in values reads the environment when it is used. */
export type McpServerSettings = Readonly<z.output<typeof mcpServerSchema>>;

/** Settings that are maps. In the environment: JSON. */
export const NESTED_SETTINGS = {
  context: z.strictObject({
    /** From a place in the context (`userInfo.id`, `sessionId`) to the header that fills it. */
    headers: texts.optional(),
    /** A workflow that gets the request and returns `{userInfo, sessionId, configuration}`. */
    workflow: text,
    configuration: z.record(z.string(), z.unknown()).optional(),
    /** What requests with `server.api_key` say is believed, as with a key that was made with `--tells-context`. */
    from_api_key: z.boolean().optional(),
  }),
  aliases: texts,
  providers: z.record(
    z.string(),
    z.strictObject({
      kind: z.enum(["anthropic", "openai", "google", "openai-compatible"]),
      base_url: text,
      /** `${NAME}` reads the environment when it is used. */
      api_key: text,
      headers: texts.optional(),
    }),
  ),
  prices: z.record(z.string(), z.strictObject({ input: z.number().min(0), output: z.number().min(0) })),
  servers: z.record(z.string(), mcpServerSchema),
  /** Of the statuses that say nothing of their own, `days` and `runs` hold together. */
  keep: z.strictObject({
    ...keepRule,
    completed: keepOfStatus,
    partial: keepOfStatus,
    failed: keepOfStatus,
    cancelled: keepOfStatus,
    budget_exceeded: keepOfStatus,
  }),
  counts: z.record(z.string(), z.coerce.number().int().min(1).max(100_000)),
};

export type NestedSettings = {
  readonly [Name in keyof typeof NESTED_SETTINGS]: Readonly<z.output<(typeof NESTED_SETTINGS)[Name]>>;
};
