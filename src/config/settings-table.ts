import type { SettingDescription } from "./setting-description.ts";

const MIB = 1024 * 1024;
const COMMANDS_STAY = "Commands work on the data directory";

/**
 * Everything that can be configured, by section and name as `pawl.yaml` has them, in the order in which `pawl config`
 * shows them. The types, the checks, the names in the environment and `docs/settings.md` are derived from this table.
 * It is plain data because zod takes longer to load than a small run takes, and most runs configure nothing.
 */
export const SETTINGS = {
  data: {
    dir: { is: "text", env: ["PAWL_DATA"], says: "The data directory. Default: `.pawl` in the application." },
    durability: {
      is: ["power", "process"],
      default: "power",
      says: "`power`: a finished step survives a power cut. `process`: it survives a crash of the process.",
    },
    keep: {
      is: "keep",
      default: {},
      says:
        "Which runs stay when they have ended: `{days: 30, runs: 10000, failed: {days: 90}}`. Others are deleted " +
        "while a server is at work, and by `pawl gc`. Default: all stay.",
    },
  },
  definitions: {
    lenient: {
      is: "flag",
      default: false,
      says: "Likely misspellings in definitions are warnings, not errors: what they name stays as it is written.",
    },
  },
  limits: {
    max_output_bytes: { is: "bytes", default: 16 * MIB, says: "The largest output of a step." },
    max_run_bytes: { is: "bytes", default: 512 * MIB, says: "The most that the values of a run take together." },
    max_rows_per_commit: { is: "count", default: 500, says: "The most rows that one commit writes." },
  },
  agent: {
    provider: { is: "text", says: "Answers agent steps: `sandstorm`, `inline`, `simulated`, `simulated:SCRIPT.yaml`." },
    sandstorm_url: { is: "text", env: ["SANDSTORM_URL"], says: "The address of the Sandstorm service." },
    sandstorm_api_key: { is: "secret", env: ["SANDSTORM_API_KEY"], says: "The key for Sandstorm." },
    anthropic_api_key: { is: "secret", env: ["ANTHROPIC_API_KEY"], says: "The key for Anthropic's models." },
    openai_api_key: { is: "secret", env: ["OPENAI_API_KEY"], says: "The key for OpenAI's models." },
    google_api_key: {
      is: "secret",
      env: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
      says: "The key for Google's models.",
    },
    e2b_api_key: { is: "secret", env: ["E2B_API_KEY"], says: "The key for E2B, sent to Sandstorm." },
    idle_timeout_ms: { is: "milliseconds", default: 120_000, says: "How long an agent's stream may be silent." },
    connect_timeout_ms: { is: "milliseconds", default: 20_000, says: "How long connecting to Sandstorm may take." },
    patience_ms: {
      is: "milliseconds",
      range: [0, 3_600_000],
      default: 60_000,
      says: "How long an inline agent's turn waits for a provider that is down.",
    },
    simulated_delay_factor: {
      is: "number",
      range: [0, 1_000],
      default: 1,
      says: "Scales the delays of simulated agents. 0 answers at once.",
    },
  },
  storage: {
    backend: {
      is: ["local", "s3"],
      default: "local",
      env: ["STORAGE_BACKEND"],
      says: "Where large values and files are kept: in the data directory, or in a bucket of an S3-compatible store.",
    },
    bucket: { is: "text", env: ["STORAGE_BUCKET"], says: "The bucket." },
    prefix: {
      is: "text",
      default: "",
      env: ["STORAGE_PREFIX"],
      says: "A folder in the bucket. Each data directory needs one of its own in a bucket that they share.",
    },
    endpoint: {
      is: "text",
      env: ["STORAGE_ENDPOINT"],
      says: "The address of the store, such as `http://localhost:9000`. Default: Amazon S3.",
    },
    aws_access_key_id: {
      is: "secret",
      env: ["AWS_ACCESS_KEY_ID"],
      says: "The store's access key. Default: as Amazon's SDK finds one, for example by the role of the machine.",
    },
    aws_secret_access_key: { is: "secret", env: ["AWS_SECRET_ACCESS_KEY"], says: "The store's secret key." },
    aws_session_token: { is: "secret", env: ["AWS_SESSION_TOKEN"], says: "The token of temporary keys." },
    aws_region: {
      is: "text",
      default: "us-east-1",
      env: ["AWS_REGION", "AWS_DEFAULT_REGION"],
      says: "The region of the bucket.",
    },
    timeout_ms: {
      is: "milliseconds",
      range: [100, 600_000],
      default: 15_000,
      says: "How long the store may take for one operation. What is large gets a second more for each 100 KB.",
    },
  },
  database: {
    url: {
      is: "secret",
      env: ["DATABASE_URL"],
      says:
        "The address of a PostgreSQL database in which runs and all records are kept, and which many processes share. Default: SQLite " +
        "in the data directory.",
    },
    connections: {
      is: "count",
      range: [2, 1_000],
      default: 10,
      says: "The most connections of one process.",
    },
    lease_ms: {
      is: "milliseconds",
      range: [1_000, 600_000],
      default: 8_000,
      says: "How long a process that gives no sign of life keeps the runs that it drives. Then others go on with them.",
    },
  },
  worker: {
    concurrency: {
      is: "count",
      range: [1, 100_000],
      default: 200,
      says: "How many runs a process drives before it leaves those of others to other processes.",
    },
  },
  restate: {
    url: {
      is: "url",
      env: ["RESTATE_URL"],
      says: "The ingress of a Restate server that drives the runs, such as `http://localhost:8080`. Default: processes of Pawl drive them.",
    },
    admin_url: {
      is: "url",
      env: ["RESTATE_ADMIN_URL"],
      says: "The admin interface of that server. Default: port 9070 of the same host.",
    },
    token: { is: "secret", env: ["RESTATE_AUTH_TOKEN"], says: "Sent to both as a bearer token." },
    service: {
      is: "name",
      default: "pawl",
      says: "The name of the workflow in Restate. Applications that share a Restate server need one each.",
    },
    endpoint_port: {
      is: "port",
      env: ["RESTATE_ENDPOINT_PORT"],
      says: "The port at which this process takes Restate's calls and drives runs. 0 picks a free one. Default: it takes none, and 9080 of `pawl worker --restate`.",
    },
    endpoint_host: { is: "text", default: "127.0.0.1", says: "The address at which it takes them." },
    endpoint_url: {
      is: "url",
      says: "Where Restate reaches the endpoints: the address of one, or of what stands before several. Default: the address it listens at.",
    },
    register: {
      is: "flag",
      default: false,
      says: "Whether this process tells Restate of its endpoint when it starts. Otherwise `pawl restate register` does.",
    },
    identity_keys: {
      is: "texts",
      default: [],
      says: "Public keys of Restate servers (`publickeyv1_...`). Calls of others are refused. Default: calls of everybody who reaches the port are taken.",
    },
    max_entries: {
      is: "count",
      range: [2, 100_000],
      default: 1_000,
      says: "How many commits of a run one invocation records, before another one goes on with the run.",
    },
  },
  redis: {
    url: {
      is: "secret",
      env: ["REDIS_URL"],
      says: "A Redis server through which the processes of a database wake one another, and count the requests of each caller together.",
    },
  },
  secrets: {
    env: { is: "texts", default: [], says: "Environment variables that are secret though their names do not show it." },
    key: {
      is: "secret",
      minLength: 16,
      says:
        "Encrypts the secret inputs of runs. Default: `secrets.key` in the data directory, made when it is needed; with a database the " +
        "secret of webhooks, and if there is none a process refuses to start.",
    },
  },
  webhook: {
    secret: {
      is: "secret",
      env: ["WEBHOOK_SECRET"],
      says: "Signs webhooks. `whsec_` and base64 is a key of Standard Webhooks; any other text is used as it is.",
    },
    previous_secret: {
      is: "secret",
      env: ["WEBHOOK_PREVIOUS_SECRET"],
      says: "Signs webhooks too, while receivers change over to `secret`.",
    },
    max_attempts: { is: "integer", range: [1, 100], default: 3, says: "How often a webhook is tried." },
    timeout_ms: { is: "milliseconds", range: [100, 600_000], default: 15_000, says: "How long an answer may take." },
    retry_delay_ms: {
      is: "milliseconds",
      range: [1, 3_600_000],
      default: 2_000,
      says: "The wait before the second try. It doubles before each further one.",
    },
  },
  notify: {
    smtp_url: { is: "secret", env: ["SMTP_URL"], says: "Sends e-mail of schedules: `smtp://user:password@host:587`." },
    email_from: { is: "text", env: ["SMTP_FROM"], says: "The sender. Default: `pawl@` and the host of `smtp_url`." },
  },
  server: {
    api_key: { is: "secret", env: ["API_KEY"], says: "The key that clients of the server send." },
    host: { is: "text", default: "127.0.0.1", says: "The address to listen on." },
    port: { is: "port", default: 8080, says: "The port to listen on. 0 picks a free one." },
    max_body_bytes: { is: "bytes", default: MIB, says: "The largest body of a request." },
    request_timeout_ms: { is: "milliseconds", default: 60_000, says: "How long a client may take to send a request." },
    rate_limit_per_minute: {
      is: "integer",
      range: [0, 1_000_000],
      says: "Requests of one key, or of one address if no key is needed. 0: any number. Default: 1,200; any on loopback without keys.",
    },
    grant: {
      is: "grant",
      default: "sent",
      says: "What texts may reach that come without a key, or with `api_key`: `terminals,variables:API_*`, `everything`.",
    },
    cors_origins: { is: "origins", default: [], says: "Pages of these origins may use it: `https://app.example`." },
    role: {
      is: ["all", "api", "worker", "scheduler"],
      default: "all",
      says:
        "What this process does of what several share by a database. `api`: it takes requests. `worker`: it drives runs. `scheduler`: it " +
        "fires schedules, sends webhooks and deletes old runs. Each takes requests too.",
    },
    max_in_flight: { is: "count", default: 1_000, says: "Requests that may wait for their run at once." },
    start_timeout_ms: {
      is: "milliseconds",
      range: [1_000, 86_400_000],
      default: 15_000,
      says: "How long a start may take: then the program is ready, or ends and says what has not answered.",
    },
    stop_grace_ms: {
      is: "milliseconds",
      range: [0, 600_000],
      default: 5_000,
      says: "How long a stopping server waits for requests that are under way.",
    },
    debug: { is: "flag", default: false, says: "Whether `X-Debug: 1` is answered with a trace of the steps." },
    context: { is: "context", default: {}, says: "Fills `userInfo`, `sessionId` and `configuration` of requests." },
  },
  quotas: {
    requests: { is: "count", default: 500, says: "Requests of a tenant under way at once, in each process." },
    bodies: { is: "count", default: 32, says: "Bodies above 100 kB of a tenant's requests that are read at once." },
    runs: {
      is: "count",
      default: 10_000,
      says: "Runs of a tenant that have not ended, of those that a process drives.",
    },
    streams: { is: "count", default: 200, says: "Open streams of a tenant." },
    stored_bytes: {
      is: "bytes",
      default: 20 * 1024 * MIB,
      says: "What the records of a tenant's runs may take together, in all processes: with as much it begins no run.",
    },
    terminals: { is: "count", default: 10, says: "Open terminals of a tenant, within `terminal.max_sessions`." },
  },
  client: {
    url: { is: "text", env: ["SANDCASTLE_URL"], later: COMMANDS_STAY, says: "The server that commands go to." },
    api_key: { is: "secret", env: ["SANDCASTLE_API_KEY"], later: COMMANDS_STAY, says: "The key for that server." },
  },
  agents: {
    config_path: { is: "text", env: ["HOST_CONFIG_PATH"], says: "The agents file. Default: `agents.json`." },
  },
  events: {
    keep_ms: {
      is: "milliseconds",
      default: 86_400_000,
      says: "How long an event is kept for a run that will wait for it.",
    },
    max_kept: { is: "count", default: 10_000, says: "How many events are kept so, of each tenant." },
  },
  uhlp: {
    sandbox_port: { is: "port", env: ["UHLP_SANDBOX_PORT"], says: "The port where `server.port` is not set." },
    mcp_endpoint: { is: "text", env: ["UHLP_MCP_ENDPOINT"], says: "The endpoint of a UHLP workflow's tools." },
    allowed_endpoints: {
      is: "texts",
      default: [],
      says: "Endpoints beside `mcp_endpoint` that a request may name. An origin allows all below it.",
    },
    max_steps: { is: "count", default: 20, says: "Visits of steps in a run whose workflow does not say `maxSteps`." },
  },
  code: {
    sandbox: {
      is: ["auto", "required", "off"],
      default: "required",
      says:
        "`required`: bwrap, or the step fails. `auto`: bwrap where it works, else a plain process and a warning. " +
        "`off`: a plain process, which may do what Pawl's user may.",
    },
    ready: {
      is: "integer",
      range: [0, 100],
      default: 16,
      says: "How many sandboxes stand ready for functions that were called before. 0: none.",
    },
    python: { is: "text", says: "A Python interpreter, or the folder of a venv." },
    node_modules: { is: "text", says: "A `node_modules` folder that scripts may import from." },
    timeout_ms: { is: "milliseconds", default: 60_000, says: "How long a script may run." },
    memory_bytes: { is: "bytes", default: 512 * MIB, says: "The memory of a script." },
    max_output_bytes: { is: "bytes", default: 8 * MIB, says: "The largest output of a script." },
    max_processes: { is: "integer", range: [1, 10_000], default: 64, says: "The most processes of a script." },
  },
  models: {
    default: { is: "text", says: "The model of steps that name none: `provider:model`, or an alias." },
    repairs: {
      is: "integer",
      range: [0, 10],
      default: 2,
      says: "How often a model is asked again if its answer does not fit the schema.",
    },
    timeout_ms: { is: "milliseconds", default: 120_000, says: "How long an answer of a model may take." },
    aliases: { is: "aliases", default: {}, says: "Other names for `provider:model`." },
    providers: {
      is: "providers",
      default: {},
      says: "Providers beside the built-in `anthropic`, `openai` and `google`, or instead of them.",
    },
    prices: {
      is: "prices",
      default: {},
      says: "US dollars for a million tokens, by model. They go before the price list.",
    },
  },
  capacity: {
    limits: {
      is: "counts",
      default: {},
      says: "The most calls at once of all processes together, by the origin of an agent server, a provider, or `provider:model`.",
    },
    patience_ms: {
      is: "milliseconds",
      range: [0, 86_400_000],
      default: 3_600_000,
      says: "How long steps wait for an agent server or a model that refuses every call. 0: the first refusal fails a step.",
    },
  },
  mcp: {
    audit_log_path: { is: "text", env: ["MCP_AUDIT_LOG_PATH"], says: "A file that records calls of terminal tools." },
    servers: { is: "servers", default: {}, says: "Servers as in `.mcp.json`. They go before that file's." },
    timeout_ms: { is: "milliseconds", default: 60_000, says: "How long a call of a tool may take." },
    answer_tokens: {
      is: "integer",
      range: [1_000, 1_000_000],
      default: 8_000,
      says: "About how many tokens an answer of `pawl mcp` and `pawl mcp terminal` may have. What is left out it names.",
    },
    idle_ms: { is: "milliseconds", default: 300_000, says: "How long an agents file's unused servers stay open." },
    allow_commands: {
      is: "flag",
      default: false,
      says: "Whether `core.linux.executeCommand` may run commands, in the sandbox.",
    },
  },
  outbound: {
    allow: {
      is: "texts",
      default: [],
      says: "Hosts and networks that steps may reach though they are not public: `localhost:3000`, `10.1.0.0/16`.",
    },
  },
  reports: {
    chromium: { is: "text", says: "The browser that prints PDF: a path, a name or `off`. Default: the first found." },
  },
  inputs: {
    folders: { is: "texts", default: [], says: "Folders of the application that a client may name as an input." },
  },
  terminal: {
    level: {
      is: ["off", "low", "medium", "high"],
      fallback: "high",
      toml: "security.level",
      says: "The security level.",
    },
    sandbox: {
      is: "flag",
      fallback: false,
      says: "Whether every terminal runs in the sandbox. Otherwise those do that ask for it.",
    },
    sandbox_folders: {
      is: "texts",
      says: "Folders of the application that terminals in the sandbox may change.",
    },
    backend: { is: ["pty", "tmux"], fallback: "pty", says: "With `tmux` terminals outlive the process." },
    max_calls_per_minute: {
      is: "count",
      fallback: 60,
      toml: "security.max_calls_per_minute",
      says: "Calls of terminal tools in a minute.",
    },
    max_sessions: { is: "count", fallback: 50, toml: "security.max_sessions", says: "Terminals open at once." },
    default_shell: { is: "text", fallback: "bash", toml: "session.default_shell", says: "The shell of a terminal." },
    isolate_history: {
      is: "flag",
      fallback: true,
      toml: "session.isolate_history",
      says: "Whether shells keep what is typed out of the user's history files.",
    },
    columns: { is: "integer", range: [2, 1_000], fallback: 120, toml: "terminal.width", says: "Its columns." },
    rows: { is: "integer", range: [1, 1_000], fallback: 30, toml: "terminal.height", says: "Its rows." },
    scrollback_rows: { is: "integer", range: [0, 100_000], fallback: 2_000, says: "Rows kept above the screen." },
    sweep_after_ms: { is: "milliseconds", fallback: 300_000, says: "How long a terminal can be read after its end." },
    env_allow: {
      is: "texts",
      says: "Environment variables that terminal workflows may read as `{env.NAME}`. Their values count as secrets.",
    },
    record: { is: "flag", fallback: true, says: "Whether the terminals of runs are recorded." },
    record_sessions: { is: "flag", fallback: false, says: "Whether terminals that no run has opened are recorded." },
    record_max_bytes: { is: "bytes", range: [1_024, 1024 * MIB], fallback: 16 * MIB, says: "The largest recording." },
    web_enabled: { is: "flag", fallback: false, toml: "web.enabled", says: "Whether browsers can watch terminals." },
    web_host: { is: "text", fallback: "127.0.0.1", toml: "web.host", says: "The address of the live view." },
    web_port: { is: "port", fallback: 0, toml: "web.port", says: "The port of the live view. 0 picks a free one." },
    web_token: { is: "secret", minLength: 16, says: "The token of the live view. Default: a new one in each process." },
    web_input: { is: "flag", fallback: false, says: "Whether viewers may type, and end programs." },
  },
  log: {
    level: {
      is: ["trace", "debug", "info", "warn", "error", "silent"],
      default: "info",
      env: ["LOG_LEVEL"],
      says: "The least important lines that are logged.",
    },
    format: {
      is: ["auto", "json", "pretty"],
      default: "auto",
      env: ["LOG_FORMAT"],
      says: "`auto`: readable at a terminal, JSON lines elsewhere.",
    },
  },
  telemetry: {
    otlp_endpoint: { is: "url", env: ["OTEL_EXPORTER_OTLP_ENDPOINT"], says: "Where spans go, over OTLP/HTTP." },
    otlp_headers: { is: "secret", env: ["OTEL_EXPORTER_OTLP_HEADERS"], says: "Its headers: `name=value`, by commas." },
    service_name: { is: "text", minLength: 1, default: "pawl", env: ["OTEL_SERVICE_NAME"], says: "Its name in spans." },
  },
  metrics: {
    enabled: { is: "flag", default: true, says: "Whether a server answers `/metrics`." },
    access: { is: ["read", "open"], default: "read", says: "`open`: on loopback `/metrics` needs no key." },
    tenant_label: { is: "flag", default: false, says: "Whether metrics are divided by tenant." },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SettingDescription>>>>;
