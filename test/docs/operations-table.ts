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
const bytes = { no: "Files of any size and kind; models are given what runs put out." };
const unused = { no: "Nothing that a model would ask for: `get_run_status` and `get_workflow` tell more." };

/** Every operation, and where it is to be had. A test holds it against the endpoints, the verbs, the tools and the files. */
export const OPERATIONS: readonly OperationRow[] = [
  {
    files: ["start/prepare-run.ts", "start/prepare-submission.ts", "start/submit-run.ts"],
    http: ["submitRun", "runSync"],
    cli: ["run"],
    mcp: ["run_workflow", "run_workflow_yaml"],
  },
  {
    files: ["start/prepare-run.ts"],
    http: { no: "A step alone is for whoever writes its files." },
    cli: ["step"],
    mcp: local,
  },
  { files: ["plan/plan-run.ts"], http: ["planRun"], cli: ["plan"], mcp: ["plan_workflow"] },
  {
    files: ["definitions/validate-text.ts", "definitions/validate-definition.ts"],
    http: ["validateWorkflow"],
    cli: ["validate"],
    mcp: ["validate_workflow"],
  },
  {
    files: ["workflows/list-workflows.ts", "workflows/list-saved-workflows.ts"],
    http: ["listWorkflows"],
    cli: ["workflows ls"],
    mcp: ["list_workflows"],
  },
  {
    files: ["workflows/show-workflow.ts", "workflows/show-saved-workflow.ts"],
    http: ["showWorkflow"],
    cli: ["workflows show", "graph"],
    mcp: ["get_workflow"],
  },
  {
    files: ["workflows/save-workflow.ts"],
    http: ["saveWorkflow", "putWorkflow"],
    cli: ["workflows save"],
    mcp: ["save_workflow"],
  },
  {
    files: ["workflows/save-workflow.ts"],
    http: ["listWorkflowVersions"],
    cli: ["workflows versions"],
    mcp: ["list_workflow_versions"],
  },
  {
    files: ["workflows/save-workflow.ts", "workflows/remove-saved-workflow.ts"],
    http: ["removeWorkflow"],
    cli: ["workflows rm"],
    mcp: ["delete_workflow"],
  },
  { files: ["workflows/rename-saved-workflow.ts"], http: local, cli: ["workflows rename"], mcp: local },
  { files: ["runs/list-runs.ts"], http: ["listRuns"], cli: ["runs ls"], mcp: ["list_runs"] },
  { files: ["runs/find-run.ts"], http: ["getRun"], cli: ["runs show"], mcp: ["get_run_status"] },
  {
    files: ["runs/stream-run.ts", "runs/follow-run.ts"],
    http: ["streamRun"],
    cli: ["runs watch"],
    mcp: { no: "`run_workflow` waits where that is asked for, and tells how far the run is." },
  },
  {
    files: ["events/stream-events.ts"],
    http: ["streamEvents"],
    cli: { no: "`runs watch` follows one run; programs read the stream itself." },
    mcp: { no: "A model asks for what it wants to know." },
  },
  {
    files: ["runs/page-run-logs.ts", "runs/describe-run-logs.ts"],
    http: ["readRunLogs"],
    cli: ["runs logs"],
    mcp: ["get_run_logs"],
  },
  {
    files: ["runs/read-run-events.ts"],
    http: ["readRunEvents"],
    cli: ["runs events"],
    mcp: { no: "The journal is the inside of a run: `get_run_status` says what may be relied on." },
  },
  {
    files: ["runs/read-run-graph.ts", "repeat/read-pinned-graph.ts"],
    http: ["readRunGraph"],
    cli: ["runs watch"],
    mcp: { no: "For who draws a run: `get_workflow` says what it does in which order." },
  },
  { files: ["runs/cancel-run.ts"], http: ["cancelRun"], cli: ["runs cancel"], mcp: ["cancel_run"] },
  {
    files: ["runs/resume-run.ts", "runs/list-resumable.ts"],
    http: ["resumeRun"],
    cli: ["runs resume"],
    mcp: ["resume_run"],
  },
  { files: ["runs/send-signal.ts"], http: ["signalRun"], cli: ["runs signal"], mcp: ["send_signal"] },
  { files: ["repeat/rerun-run.ts"], http: ["rerunRun", "replayRun"], cli: ["runs rerun"], mcp: ["rerun_run"] },
  { files: ["repeat/fork-run.ts"], http: ["forkRun"], cli: ["runs fork"], mcp: ["fork_run"] },
  { files: ["runs/compare-runs.ts"], http: ["compareRuns"], cli: ["runs diff"], mcp: ["compare_runs"] },
  { files: ["runs/delete-run.ts"], http: ["deleteRun"], cli: ["runs rm"], mcp: ["delete_run"] },
  {
    files: ["storage/list-artifacts.ts"],
    http: ["listArtifacts", "readArtifact"],
    cli: ["runs show", "storage get"],
    mcp: bytes,
  },
  {
    files: ["approvals/list-open-approvals.ts", "approvals/answer-approval.ts"],
    http: ["listApprovals", "getApproval"],
    cli: ["approvals ls"],
    mcp: ["list_approvals"],
  },
  {
    files: ["approvals/answer-approval.ts"],
    http: ["approve", "reject", "skip"],
    cli: ["approve", "reject", "skip", "runs approve", "runs reject", "runs skip"],
    mcp: ["respond_to_run"],
  },
  {
    files: ["storage/stored-files.ts"],
    http: ["listStoredFiles", "readStoredFile", "writeStoredFile", "removeStoredFile"],
    cli: ["storage ls", "storage get", "storage put", "storage rm"],
    mcp: bytes,
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
  {
    files: ["templates/templates.ts", "templates/lay-out-terminal-examples.ts"],
    http: ["listTemplates", "showTemplate"],
    cli: ["init"],
    mcp: { no: "A template is where a person begins; a model writes a definition and validates it." },
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
