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
const budgets = { no: "Who is limited does not say how far." };
const keys = { no: "Who may use the service is not decided by a model." };
const bytes = { no: "Files of any size and kind; models are given what runs put out." };
const care = { no: "Webhooks are between servers; people look after them." };
const unused = { no: "Nothing that a model would ask for: `get_run_status` and `get_workflow` tell more." };

/** Every operation, and where it is to be had. A test holds it against the endpoints, the verbs, the tools and the files. */
export const OPERATIONS: readonly OperationRow[] = [
  {
    files: ["prepare-run.ts", "prepare-submission.ts", "submit-run.ts"],
    http: ["submitRun", "runSync"],
    cli: ["run"],
    mcp: ["run_workflow", "run_workflow_yaml"],
  },
  {
    files: ["prepare-run.ts"],
    http: { no: "A step alone is for whoever writes its files." },
    cli: ["step"],
    mcp: local,
  },
  { files: ["plan-run.ts"], http: ["planRun"], cli: ["plan"], mcp: ["plan_workflow"] },
  {
    files: ["validate-text.ts", "validate-definition.ts"],
    http: ["validateWorkflow"],
    cli: ["validate"],
    mcp: ["validate_workflow"],
  },
  {
    files: ["list-workflows.ts", "list-saved-workflows.ts"],
    http: ["listWorkflows"],
    cli: ["workflows ls"],
    mcp: ["list_workflows"],
  },
  {
    files: ["show-workflow.ts", "show-saved-workflow.ts"],
    http: ["showWorkflow"],
    cli: ["workflows show", "graph"],
    mcp: ["get_workflow"],
  },
  {
    files: ["save-workflow.ts"],
    http: ["saveWorkflow", "putWorkflow"],
    cli: ["workflows save"],
    mcp: ["save_workflow"],
  },
  {
    files: ["save-workflow.ts"],
    http: ["listWorkflowVersions"],
    cli: ["workflows versions"],
    mcp: ["list_workflow_versions"],
  },
  {
    files: ["save-workflow.ts", "remove-saved-workflow.ts"],
    http: ["removeWorkflow"],
    cli: ["workflows rm"],
    mcp: ["delete_workflow"],
  },
  { files: ["rename-saved-workflow.ts"], http: local, cli: ["workflows rename"], mcp: local },
  { files: ["list-runs.ts"], http: ["listRuns"], cli: ["runs ls"], mcp: ["list_runs"] },
  { files: ["find-run.ts"], http: ["getRun"], cli: ["runs show"], mcp: ["get_run_status"] },
  {
    files: ["stream-run.ts", "follow-run.ts"],
    http: ["streamRun"],
    cli: ["runs watch"],
    mcp: { no: "`run_workflow` waits where that is asked for, and tells how far the run is." },
  },
  {
    files: ["stream-events.ts"],
    http: ["streamEvents"],
    cli: { no: "`runs watch` follows one run; programs read the stream itself." },
    mcp: { no: "A model asks for what it wants to know." },
  },
  {
    files: ["page-run-logs.ts", "describe-run-logs.ts"],
    http: ["readRunLogs"],
    cli: ["runs logs"],
    mcp: ["get_run_logs"],
  },
  {
    files: ["read-run-events.ts"],
    http: ["readRunEvents"],
    cli: ["runs events"],
    mcp: { no: "The journal is the inside of a run: `get_run_status` says what may be relied on." },
  },
  {
    files: ["read-run-graph.ts", "read-pinned-graph.ts"],
    http: ["readRunGraph"],
    cli: ["runs watch"],
    mcp: { no: "For who draws a run: `get_workflow` says what it does in which order." },
  },
  { files: ["cancel-run.ts"], http: ["cancelRun"], cli: ["runs cancel"], mcp: ["cancel_run"] },
  { files: ["resume-run.ts", "list-resumable.ts"], http: ["resumeRun"], cli: ["runs resume"], mcp: ["resume_run"] },
  { files: ["send-signal.ts"], http: ["signalRun"], cli: ["runs signal"], mcp: ["send_signal"] },
  { files: ["rerun-run.ts"], http: ["rerunRun", "replayRun"], cli: ["runs rerun"], mcp: ["rerun_run"] },
  { files: ["fork-run.ts"], http: ["forkRun"], cli: ["runs fork"], mcp: ["fork_run"] },
  { files: ["compare-runs.ts"], http: ["compareRuns"], cli: ["runs diff"], mcp: ["compare_runs"] },
  { files: ["delete-run.ts"], http: ["deleteRun"], cli: ["runs rm"], mcp: ["delete_run"] },
  {
    files: ["list-artifacts.ts"],
    http: ["listArtifacts", "readArtifact"],
    cli: ["runs show", "storage get"],
    mcp: bytes,
  },
  {
    files: ["list-open-approvals.ts", "answer-approval.ts"],
    http: ["listApprovals", "getApproval"],
    cli: ["approvals ls"],
    mcp: ["list_approvals"],
  },
  {
    files: ["answer-approval.ts"],
    http: ["approve", "reject", "skip"],
    cli: ["approve", "reject", "skip", "runs approve", "runs reject", "runs skip"],
    mcp: ["respond_to_run"],
  },
  {
    files: ["list-dead-letters.ts", "find-dead-letter.ts"],
    http: ["listDeadLetters", "getDeadLetter"],
    cli: ["dead-letter ls"],
    mcp: ["list_dead_letters"],
  },
  {
    files: ["retry-dead-letter.ts"],
    http: ["retryDeadLetter"],
    cli: ["dead-letter retry"],
    mcp: ["retry_dead_letter"],
  },
  {
    files: ["resolve-dead-letter.ts"],
    http: ["resolveDeadLetter"],
    cli: ["dead-letter resolve"],
    mcp: ["resolve_dead_letter"],
  },
  {
    files: ["webhook-deliveries.ts"],
    http: ["listWebhooks", "getWebhook", "resendWebhook"],
    cli: ["webhooks ls", "webhooks show", "webhooks resend"],
    mcp: care,
  },
  { files: ["sign-webhook.ts"], http: { no: "Whoever receives checks." }, cli: ["webhooks verify"], mcp: care },
  { files: ["list-violations.ts"], http: ["listViolations"], cli: ["violations"], mcp: ["list_violations"] },
  { files: ["sum-costs.ts"], http: ["sumCosts"], cli: ["costs"], mcp: ["get_costs"] },
  {
    files: ["list-schedules.ts"],
    http: ["listSchedules", "getSchedule"],
    cli: ["schedules ls", "schedules next"],
    mcp: ["list_schedules"],
  },
  { files: ["create-schedule.ts"], http: ["createSchedule"], cli: ["schedules create"], mcp: ["create_schedule"] },
  {
    files: ["change-schedule.ts"],
    http: ["changeSchedule"],
    cli: ["schedules pause", "schedules resume"],
    mcp: ["update_schedule"],
  },
  { files: ["remove-schedule.ts"], http: ["removeSchedule"], cli: ["schedules rm"], mcp: ["delete_schedule"] },
  { files: ["run-schedule.ts"], http: ["runSchedule"], cli: ["schedules run"], mcp: ["run_schedule"] },
  { files: ["list-schedules.ts"], http: ["listScheduleSlots"], cli: ["schedules slots"], mcp: ["list_schedule_slots"] },
  {
    files: ["api-keys.ts"],
    http: ["createKey", "listKeys", "revokeKey"],
    cli: ["keys create", "keys ls", "keys revoke"],
    mcp: keys,
  },
  {
    files: ["shared-budgets.ts"],
    http: ["setBudget", "listBudgets", "getBudget", "removeBudget"],
    cli: ["budgets ls", "budgets show", "budgets set", "budgets rm"],
    mcp: budgets,
  },
  {
    files: ["stored-files.ts"],
    http: ["listStoredFiles", "readStoredFile", "writeStoredFile", "removeStoredFile"],
    cli: ["storage ls", "storage get", "storage put", "storage rm"],
    mcp: bytes,
  },
  {
    files: ["check-health.ts"],
    http: ["getHealth"],
    cli: { no: "`pawl doctor` looks at more." },
    mcp: { no: "It is the resource pawl://health." },
  },
  {
    files: ["metrics-gauges.ts"],
    http: ["readMetrics"],
    cli: { no: "Prometheus reads it." },
    mcp: { no: "As for the command line." },
  },
  { files: ["run-doctor.ts"], http: local, cli: ["doctor"], mcp: local },
  { files: ["show-config.ts"], http: local, cli: ["config"], mcp: local },
  {
    files: ["describe-agents.ts", "show-agent.ts"],
    http: local,
    cli: ["agents ls", "agents show", "agents validate"],
    mcp: local,
  },
  { files: ["render-prompt.ts"], http: local, cli: ["prompt render"], mcp: unused },
  {
    files: ["find-terminals.ts"],
    http: { no: "Terminals belong to no tenant; they are watched with a link of their own." },
    cli: ["terminals ls", "terminals attach", "terminals kill"],
    mcp: { no: "`pawl mcp terminal` is the server of terminals." },
  },
  {
    files: ["templates.ts", "lay-out-terminal-examples.ts"],
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

/** Files of `src/operations` that surfaces use and that are parts of operations, or of the sandbox and agents protocols. */
export const PARTS: readonly string[] = [
  "compare-with-source.ts",
  "describe-host.ts",
  "find-agents-workflow.ts",
  "find-awaited.ts",
  "owner-application.ts",
  "request-context.ts",
  "saved-definitions.ts",
  "tenant-application.ts",
  "trigger-tables.ts",
];
