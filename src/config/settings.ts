/**
 * Everything that can be configured, a section per part, with the names that `pawl.yaml` uses. Not read where `later`
 * is named in the table of names: those are accepted so that a file written for the whole product works today.
 */
export interface Settings {
  readonly data: {
    /** Absent: `.pawl` in the application. */
    readonly dir?: string | undefined;
    /** `power`: a finished step survives a power cut. `process`: it survives a crash of the process. */
    readonly durability: "power" | "process";
  };
  readonly limits: {
    readonly max_output_bytes: number;
    readonly max_rows_per_commit: number;
  };
  readonly agent: {
    /** Who answers agent steps where the command does not say: `sandstorm`, `inline`, `simulated`, `simulated:SCRIPT.yaml`. */
    readonly provider?: string | undefined;
    readonly sandstorm_url?: string | undefined;
    readonly sandstorm_api_key?: string | undefined;
    readonly anthropic_api_key?: string | undefined;
    readonly openai_api_key?: string | undefined;
    readonly google_api_key?: string | undefined;
    readonly e2b_api_key?: string | undefined;
    readonly idle_timeout_ms: number;
    readonly connect_timeout_ms: number;
    /** How long one turn of an inline agent waits for a provider that is overloaded or out of reach. */
    readonly patience_ms: number;
    /** Scales the made-up delays of simulated agents; 0 answers at once. */
    readonly simulated_delay_factor: number;
  };
  readonly storage: {
    readonly backend: "local" | "s3";
    readonly bucket?: string | undefined;
    readonly endpoint?: string | undefined;
    readonly aws_access_key_id?: string | undefined;
    readonly aws_secret_access_key?: string | undefined;
    readonly aws_session_token?: string | undefined;
    readonly aws_region?: string | undefined;
  };
  readonly database: { readonly url?: string | undefined };
  readonly redis: { readonly url?: string | undefined };
  readonly secrets: {
    /** Variables of the environment that are secret though their names do not tell. */
    readonly env: readonly string[];
    /** Secret inputs of runs are encrypted with it. Absent: `secrets.key` of the data directory, made when it is needed. */
    readonly key?: string | undefined;
  };
  readonly webhook: {
    /** Signs what is sent. `whsec_` and base64 is a key for Standard Webhooks; any other text is taken as it is. */
    readonly secret?: string | undefined;
    /** While receivers change over to `secret`: what is sent bears a signature by this one as well. */
    readonly previous_secret?: string | undefined;
    readonly max_attempts: number;
    readonly timeout_ms: number;
    /** Before the second try; twice as long before each further one. */
    readonly retry_delay_ms: number;
  };
  readonly notify: {
    /** Sends the e-mail of schedules: `smtp://user:password@host:587`. */
    readonly smtp_url?: string | undefined;
    /** Absent: `pawl@` and the host of `smtp_url`. */
    readonly email_from?: string | undefined;
  };
  readonly server: {
    readonly api_key?: string | undefined;
    readonly host: string;
    /** 0 picks a free one. */
    readonly port: number;
    readonly max_body_bytes: number;
    /** How long a client may take to send a request. */
    readonly request_timeout_ms: number;
    /** Of one key, or of one address where none is needed; 0: any number. Absent: 1,200, and any on loopback without keys. */
    readonly rate_limit_per_minute?: number | undefined;
    /** Pages of these origins may use the service: `https://app.example`. */
    readonly cors_origins: readonly string[];
    /** Requests that may wait for their run at once. */
    readonly max_in_flight: number;
    /** How long a stopping server waits for requests that are under way. */
    readonly stop_grace_ms: number;
    /** Whether `X-Debug: 1` is answered with a trace of the steps. */
    readonly debug: boolean;
    /** Who fills `userInfo`, `sessionId` and `configuration` of requests; a body never does. */
    readonly context: ContextSettings;
  };
  readonly client: { readonly url?: string | undefined; readonly api_key?: string | undefined };
  readonly agents: { readonly config_path?: string | undefined };
  readonly uhlp: {
    readonly sandbox_port?: number | undefined;
    readonly mcp_endpoint?: string | undefined;
    /** Endpoints beside `mcp_endpoint` that a request may name. An origin allows everything below it. */
    readonly allowed_endpoints: readonly string[];
    /** Visits of steps in one run of a workflow that does not say `maxSteps`. */
    readonly max_steps: number;
  };
  readonly code: {
    /** `auto`: bwrap where it is, else a plain process and a warning. `required`: bwrap or a failure. */
    readonly sandbox: "auto" | "required" | "off";
    /** A Python interpreter, or the folder of a venv. */
    readonly python?: string | undefined;
    /** A `node_modules` folder that scripts may import from. */
    readonly node_modules?: string | undefined;
    readonly timeout_ms: number;
    readonly memory_bytes: number;
    readonly max_output_bytes: number;
    readonly max_processes: number;
  };
  readonly models: {
    /** For steps that name no model: `provider:model`, or an alias. */
    readonly default?: string | undefined;
    /** How often a model is asked again when its answer does not fit the schema. */
    readonly repairs: number;
    readonly timeout_ms: number;
    /** Other names for `provider:model`. */
    readonly aliases: Readonly<Record<string, string>>;
    /** Beside the built-in `anthropic`, `openai` and `google`, or instead of them. */
    readonly providers: Readonly<Record<string, ProviderSettings>>;
    /** US dollars for a million tokens, by model; they go before the price list. */
    readonly prices: Readonly<Record<string, PriceSettings>>;
  };
  readonly mcp: {
    readonly audit_log_path?: string | undefined;
    /** As in `.mcp.json`; they go before that file's. */
    readonly servers: Readonly<Record<string, McpServerSettings>>;
    readonly timeout_ms: number;
    /** How long the servers of an agents file stay connected that nobody uses. */
    readonly idle_ms: number;
    /** Whether `core.linux.executeCommand` may run commands, in the sandbox. */
    readonly allow_commands: boolean;
  };
  /** Requests to addresses that users or models name. */
  readonly outbound: {
    /** Hosts, addresses and networks that are asked though they are not public: `localhost:3000`, `10.1.0.0/16`. */
    readonly allow: readonly string[];
  };
  readonly inputs: {
    /** Folders that a client may name as an input, relative to the application. */
    readonly folders: readonly string[];
  };
  readonly reports: {
    /** The browser that prints PDF: a path or a name; `off`: none. Absent: the first that is found. */
    readonly chromium?: string | undefined;
  };
  /** What is absent is looked up in `terminal-control.toml`, then has the default of `loadTerminalOptions`. */
  readonly terminal: TerminalSettings;
  readonly log: {
    readonly level: "trace" | "debug" | "info" | "warn" | "error" | "silent";
    /** `auto`: readable at a terminal, JSON lines elsewhere. */
    readonly format: "auto" | "json" | "pretty";
  };
  readonly telemetry: {
    /** Where spans go, over OTLP/HTTP. Absent: nowhere. */
    readonly otlp_endpoint?: string | undefined;
    /** `name=value`, separated by commas. */
    readonly otlp_headers?: string | undefined;
    readonly service_name: string;
  };
  readonly metrics: {
    readonly enabled: boolean;
    /** `open`: a server on loopback answers `/metrics` without a key. */
    readonly access: "read" | "open";
    readonly tenant_label: boolean;
  };
}

export interface TerminalSettings {
  readonly level?: "off" | "low" | "medium" | "high" | undefined;
  /** With `tmux` sessions outlive the process. */
  readonly backend?: "pty" | "tmux" | undefined;
  readonly max_calls_per_minute?: number | undefined;
  readonly max_sessions?: number | undefined;
  readonly default_shell?: string | undefined;
  /** Shells do not write what is typed to the user's history files. */
  readonly isolate_history?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** Rows that are kept when they have left the screen. */
  readonly scrollback_rows?: number | undefined;
  /** Environment variables that terminal workflows may read as `{env.NAME}`. Their values count as secrets. */
  readonly env_allow?: readonly string[] | undefined;
  /** How long a session whose program has ended can still be looked at. */
  readonly sweep_after_ms?: number | undefined;
  /** Whether the sessions of runs are recorded. */
  readonly record?: boolean | undefined;
  /** Whether sessions that no run has opened are recorded as well. */
  readonly record_sessions?: boolean | undefined;
  /** Of one recording. */
  readonly record_max_bytes?: number | undefined;
  readonly web_enabled?: boolean | undefined;
  readonly web_host?: string | undefined;
  /** 0 picks a free one. */
  readonly web_port?: number | undefined;
  /** What addresses of the live view must bear. Absent: a new one in each process. */
  readonly web_token?: string | undefined;
  /** Whether whoever sees the live view may type, and end programs. */
  readonly web_input?: boolean | undefined;
}

interface ContextSettings {
  /** From a place in the context (`userInfo.id`, `sessionId`) to the header that fills it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A workflow that gets the request and returns `{userInfo, sessionId, configuration}`. */
  readonly workflow?: string | undefined;
  readonly configuration?: Readonly<Record<string, unknown>> | undefined;
}

interface ProviderSettings {
  readonly kind: "anthropic" | "openai" | "google" | "openai-compatible";
  readonly base_url?: string | undefined;
  /** `${NAME}` reads the environment when it is used. */
  readonly api_key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface PriceSettings {
  readonly input: number;
  readonly output: number;
}

/** One entry of an `mcpServers` map. `${NAME}` in values reads the environment when it is used. */
export interface McpServerSettings {
  readonly type?: "stdio" | "http" | "streamable-http" | "sse" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeout?: number | undefined;
  readonly protocol?: "auto" | "legacy" | "2026-07-28" | undefined;
  readonly tools?:
    | { readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined }
    | undefined;
  /** What follows is for agents, and the same in an agents file. */
  readonly server_path?: string | undefined;
  readonly venv?: string | undefined;
  readonly roots?: readonly (string | { readonly uri: string; readonly name?: string | undefined })[] | undefined;
  readonly timeout_ms?: number | undefined;
  readonly routing_weight?: number | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly start?: "lazy" | "eager" | undefined;
}

export const DEFAULTS: Settings = {
  data: { durability: "power" },
  limits: { max_output_bytes: 16 * 1024 * 1024, max_rows_per_commit: 500 },
  agent: { idle_timeout_ms: 120_000, connect_timeout_ms: 20_000, patience_ms: 60_000, simulated_delay_factor: 1 },
  storage: { backend: "local" },
  database: {},
  redis: {},
  secrets: { env: [] },
  webhook: { max_attempts: 3, timeout_ms: 15_000, retry_delay_ms: 2_000 },
  notify: {},
  server: {
    host: "127.0.0.1",
    port: 8080,
    max_body_bytes: 1024 * 1024,
    request_timeout_ms: 60_000,
    cors_origins: [],
    max_in_flight: 1_000,
    stop_grace_ms: 5_000,
    debug: false,
    context: {},
  },
  client: {},
  agents: {},
  uhlp: { allowed_endpoints: [], max_steps: 20 },
  code: {
    sandbox: "auto",
    timeout_ms: 60_000,
    memory_bytes: 512 * 1024 * 1024,
    max_output_bytes: 8 * 1024 * 1024,
    max_processes: 64,
  },
  models: { repairs: 2, timeout_ms: 120_000, aliases: {}, providers: {}, prices: {} },
  mcp: { servers: {}, timeout_ms: 60_000, idle_ms: 300_000, allow_commands: false },
  outbound: { allow: [] },
  reports: {},
  inputs: { folders: [] },
  terminal: {},
  log: { level: "info", format: "auto" },
  telemetry: { service_name: "pawl" },
  metrics: { enabled: true, access: "read", tenant_label: false },
};
