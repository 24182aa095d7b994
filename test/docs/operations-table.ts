/** Where a user reaches an operation. `no` says why it is not to be had there. */
type Place = readonly string[] | { readonly no: string };

export interface OperationRow {
  /** What does it, in `src/operations`. */
  readonly files: readonly string[];
  /** Ids of endpoints, also those that are other names of it. */
  readonly http: Place;
  /** Verbs of the command line. */
  readonly cli: Place;
  /** Tools of `pawl mcp`. */
  readonly mcp: Place;
}

const local = { no: "It works on files and processes of this machine." };
const unused = { no: "Nothing that a model would ask for: `get_run_status` and `get_workflow` tell more." };

/** Every operation, and where it is to be had. A test holds it against the endpoints, the verbs, the tools and the files. */
export const OPERATIONS: readonly OperationRow[] = [
  {
    files: ["start/prepare-run.ts"],
    http: { no: "A step alone is for whoever writes its files." },
    cli: ["step"],
    mcp: local,
  },
  {
    files: ["service/check-health.ts"],
    http: ["getHealth"],
    cli: { no: "`pawl doctor` looks at more." },
    mcp: { no: "It is the resource pawl://health." },
  },
  {
    files: ["service/metrics-gauges.ts"],
    http: ["readMetrics"],
    cli: { no: "Prometheus reads it." },
    mcp: { no: "As for the command line." },
  },
  { files: ["service/run-doctor.ts"], http: local, cli: ["doctor"], mcp: local },
  { files: ["service/show-config.ts"], http: local, cli: ["config"], mcp: local },
  {
    files: ["agents/describe-agents.ts", "agents/show-agent.ts"],
    http: local,
    cli: ["agents ls", "agents show", "agents validate"],
    mcp: local,
  },
  { files: ["start/render-prompt.ts"], http: local, cli: ["prompt render"], mcp: unused },
  {
    files: ["terminals/find-terminals.ts"],
    http: { no: "Terminals belong to no tenant; they are watched with a link of their own." },
    cli: ["terminals ls", "terminals attach", "terminals kill"],
    mcp: { no: "`pawl mcp terminal` is the server of terminals." },
  },
];

/** Verbs that are a process of their own, and no operation. */
export const PROCESSES: readonly string[] = [
  "serve",
  "dev",
  "own",
  "completion",
  "mcp serve",
  "mcp core",
  "mcp terminal",
];
