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
    /** Who answers agent steps where the command does not say: `sandstorm`, `simulated`, `simulated:SCRIPT.yaml`. */
    readonly provider?: string | undefined;
    readonly sandstorm_url?: string | undefined;
    readonly sandstorm_api_key?: string | undefined;
    readonly anthropic_api_key?: string | undefined;
    readonly openai_api_key?: string | undefined;
    readonly e2b_api_key?: string | undefined;
    readonly idle_timeout_ms: number;
    readonly connect_timeout_ms: number;
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
  readonly webhook: { readonly secret?: string | undefined };
  readonly server: { readonly api_key?: string | undefined };
  readonly client: { readonly url?: string | undefined; readonly api_key?: string | undefined };
  readonly agents: { readonly config_path?: string | undefined };
  readonly uhlp: { readonly sandbox_port?: number | undefined; readonly mcp_endpoint?: string | undefined };
  readonly mcp: { readonly audit_log_path?: string | undefined };
  readonly log: { readonly level: "trace" | "debug" | "info" | "warn" | "error" | "silent" };
}

export const DEFAULTS: Settings = {
  data: { durability: "power" },
  limits: { max_output_bytes: 16 * 1024 * 1024, max_rows_per_commit: 500 },
  agent: { idle_timeout_ms: 120_000, connect_timeout_ms: 20_000, simulated_delay_factor: 1 },
  storage: { backend: "local" },
  database: {},
  redis: {},
  webhook: {},
  server: {},
  client: {},
  agents: {},
  uhlp: {},
  mcp: {},
  log: { level: "info" },
};
