import type { Expr } from "../expressions/expr.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Policy } from "./policy.ts";

/**
 * The form that every dialect compiles to: plain JSON, stored under its SHA-256, shown by `pawl graph`.
 * A run keeps the graph that it began with.
 */
export interface Graph {
  /** The version of this shape. Raised when an old graph would be read differently. */
  readonly format: 1;
  readonly dialect: Dialect;
  readonly name: string;
  readonly description?: string;
  readonly input: InputContract;
  readonly flow: Flow;
  readonly limits: RunLimits;
  readonly ending: Ending;
  /** A cron expression (UTC) from the definition, checked but not yet armed. */
  readonly schedule?: string;
  /** What starts the workflow; armed by `pawl serve`. */
  readonly triggers?: readonly Trigger[];
  /** How many of its runs go on at once. */
  readonly concurrency?: Concurrency;
  /** How many of its runs begin in a time. */
  readonly rate?: Rate;
  /** Names of environment variables that prompts may read. */
  readonly envAllowed: readonly string[];
  /** The workflows of programs that it calls, which only a process with their functions can drive. Added at the start of a run. */
  readonly programs?: readonly string[];
  /** Settings for executors of this dialect, e.g. `sandstorm_url`. `${NAME}` is still unresolved. */
  readonly settings: JsonObject;
}

export type Dialect = "sandcastle" | "uhlp" | "terminal" | "agents" | "typescript" | "direct";

/** Runs with one key share places, each tenant's apart. A run of a call is part of the run that calls, and needs none. */
export interface Concurrency {
  /** Of the input alone: a text, number or boolean. Absent: all runs share the places. */
  readonly key?: Expr;
  /** It in the words of the file, where those are others. */
  readonly keyWritten?: string;
  readonly limit: number;
  readonly whenFull: WhenFull;
  /** Workflows with the same scope share places. Absent: the workflow's own. */
  readonly scope?: string;
  /** A run begins so long after its start, and gives its place back when it begins. Absent: at once, and when it ends. */
  readonly waitMs?: number;
}

/** Of the runs with one key at most `limit` begin within `perMs`, whenever that time begins. */
export interface Rate extends Omit<Concurrency, "whenFull" | "waitMs"> {
  readonly perMs: number;
  readonly whenFull: Exclude<WhenFull, "cancelOlder">;
}

/** A new run waits in line; the oldest ones are cancelled for it; or it is not started. */
export type WhenFull = "queue" | "cancelOlder" | "skip";

export interface InputContract {
  /** JSON Schema of the input, checked before the run starts. */
  readonly schema?: JsonObject;
  /** Names that the definition declares: `{input.NAME}` then never means an item's field. */
  readonly declared: readonly string[];
  readonly defaults: JsonObject;
  /** Filled by `liftControls`: what control reads of the input. */
  readonly project?: { readonly [key: string]: Expr };
}

export interface RunLimits {
  /** Integer micro-dollars (1 USD = 1,000,000). Absent: no budget. */
  readonly maxCostMicro?: number;
  /** Beside money. The start of a run merges them with the limits of the request. */
  readonly uses?: UseLimits;
  /** What happens when a limit is used up. Absent: the run stops. */
  readonly onExceeded?: "stop" | "ask";
  /** Visits of machine steps in the whole run. Default 100,000. */
  readonly maxVisits?: number;
  /** Depth of nested calls. Default 10. */
  readonly maxDepth?: number;
  /** Tasks in flight at once in this run. Absent: only the windows of fan-outs limit. */
  readonly maxInFlight?: number;
  readonly timeoutMs?: number;
}

/** Limits of a run beside money. */
export interface UseLimits {
  /** Tokens of models, in and out, as far as they are counted. */
  readonly maxTokens?: number;
  /** Every try of a task counts. */
  readonly maxTries?: number;
  /** From the start of the run, waiting included. */
  readonly maxDurationMs?: number;
}

/** Work for after the end. It becomes outbox rows in the commit that ends the run. */
export interface Ending {
  /** The path in the application's storage that the outputs are written to on completion. */
  readonly storagePath?: Expr;
  /** Raw URL, `${NAME}` unresolved; an empty result after resolving means "not configured". */
  readonly completionWebhook?: string;
  readonly failureWebhook?: string;
  /** Told of each question to a person, when it is asked. */
  readonly approvalWebhook?: string;
  /** Final failures of steps are recorded as dead letters. Changes no status. */
  readonly deadLetter: boolean;
}

/** `name` tells it from the other triggers of its workflow. */
export type Trigger = {
  readonly name?: string;
} /** `pathPattern` has parameters as `{name}`; `method` is in capitals. */ & (
  | {
      readonly kind: "http";
      readonly method: string;
      readonly pathPattern: string;
      /** Absent: a key, where the server wants one. */
      readonly auth?: RouteAuth;
      /** The variable with the secret of `hmac`. Absent: the configured secret of webhooks. */
      readonly secret?: string;
      /** Whoever asks for events is told the texts of agents as they come. */
      readonly streams?: true;
      readonly place?: Place;
    }
  /** `timezone` is an IANA name. */
  | { readonly kind: "cron"; readonly schedule: string; readonly timezone: string; readonly says?: CronSettings }
  | { readonly kind: "queue"; readonly queueName: string }
  /** From any application where none is named. */
  | { readonly kind: "event"; readonly event: string; readonly sourceAppId?: string }
);

/** What a definition may say of its schedule beside the times. */
export interface CronSettings {
  /** With what its runs are started. */
  readonly input?: JsonObject;
  /** What becomes of a slot while the run of the slot before is under way. */
  readonly overlap?: "skip" | "queue" | "cancel_previous";
  /** Which slots that passed while no server ran are caught up: none, the last one, or the last hundred. */
  readonly catchUp?: "none" | "one" | "all";
}

/** Who may ask for a route: holders of a key, signers of the request, or everyone. */
export type RouteAuth = "key" | "hmac" | "open";

export type Flow = DagFlow | MachineFlow;

/** Steps start when all of `after` have ended; no loops. */
export interface DagFlow {
  readonly kind: "dag";
  readonly steps: readonly Step[];
  /** The step whose output is the flow's. Absent: that of its `respond` step, else all outputs by step id. */
  readonly result?: string;
  /** The `catch` and `finally` beside it see its steps, as those of a machine are seen. */
  readonly isSeenBeside?: true;
  /** It ends with the first step (or item) that succeeds, or ends at all, and with its output; the others are told to stop. */
  readonly until?: "firstSuccess" | "firstEnd";
  /** It fails when more steps and items than this have failed and were skipped: by number, or by share of the items. */
  readonly tolerates?: { readonly failures: number } | { readonly share: number };
}

/** One step at a time, from `start` along the first transition that holds; loops allowed. */
export interface MachineFlow {
  readonly kind: "machine";
  readonly start: string;
  readonly steps: readonly Step[];
  /** Visits in one pass through this flow. Absent: only the run's limit. */
  readonly maxVisits?: number;
  /** The message of the failure if `maxVisits` does not allow another visit. Absent: the core's own. */
  readonly tooManyVisits?: string;
  /** Scope variables and their first values. */
  readonly variables?: { readonly [name: string]: Json };
  /** Variables that a report on this flow's run carries; small, for state keeps them. */
  readonly reported?: readonly string[];
}

export type Step = TaskStep | FlowStep | CallStep | WaitStep | ApproveStep | SetStep | RespondStep;

interface StepCommon {
  readonly id: string;
  readonly description?: string;
  /** What it is in the words of its file, where the kind does not tell: `loop over orders`. */
  readonly says?: string | undefined;
  readonly place?: Place;
  /** In a dag: the steps that must have ended before. Ignored in a machine. */
  readonly after?: readonly string[];
  readonly each?: Each;
  /** It follows the fan-out of this step, itself or followed, item by item, whatever it names and the input has. */
  readonly follows?: string | undefined;
  /**
   * Fields of an item that this step names (`{input.website}` where the input does not declare it).
   * Such a step follows the fan-out of its direct dependency item by item.
   */
  readonly itemFields?: readonly string[];
  /** Names the item as a whole (`{item}`, `{input._item}`, `{input._index}`). */
  readonly usesItem?: boolean;
  /** False: the instance is skipped without running, its output is null. */
  readonly when?: Expr;
  /** The condition as its author wrote it, for people. */
  readonly whenWritten?: string;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  /** The effect of a final failure on the flow. Default `abort`. */
  readonly onFailure?: "abort" | "skip" | "continue";
  /** Runs on a final failure, sees `error` and the steps of a machine that has failed; if it succeeds, its output becomes the step's. */
  readonly catch?: Flow;
  /** Runs after the step whatever happened, also on cancel. Sees the steps of a machine. */
  readonly finally?: Flow;
  /** Never tried again while its effect is unknown. */
  readonly atMostOnce?: boolean;
  /** Integer micro-dollars over all attempts of one instance. */
  readonly maxCostMicro?: number;
  /** Scope variables, set together with the outcome and before transitions are read. */
  readonly assign?: { readonly [name: string]: Expr };
  /** The step records the output of another one, so its own output is not among those of the flow. */
  readonly isAside?: boolean;
  /** In a machine: the first that holds is taken. None: the flow ends on success, fails on failure. */
  readonly transitions?: readonly Transition[];
  /** Filled by `liftControls`: what control reads of this step's output, evaluated when the output arrives. */
  readonly project?: { readonly [key: string]: Expr };
}

/** Who does the work of a task. `src/core/trust/check-grant.ts` says what each must be granted. */
export type ExecutorKind =
  | "agent"
  | "inline"
  | "llm"
  | "mcp"
  | "code"
  | "http"
  | "terminal"
  | "csv"
  | "report"
  | "fail"
  /** A function of the program that embeds the engine. */
  | "function";

/** Work for an executor. `input` is bound when the task is dispatched. */
export interface TaskStep extends StepCommon {
  readonly kind: "task";
  readonly executor: ExecutorKind;
  readonly input: Expr;
  /** Policies for its output, applied before it is recorded. */
  readonly policies?: readonly Policy[];
}

/** A nested flow in a scope of its own. A machine's output is that of its `respond` step, else of its last step. */
interface FlowStep extends StepCommon {
  readonly kind: "flow";
  readonly flow: Flow;
}

/** Another workflow, of any dialect. Resolved by the host and recorded, since the name may be computed. */
export interface CallStep extends StepCommon {
  readonly kind: "call";
  /** A registered name or file, or a whole definition. */
  readonly workflow: Expr;
  readonly input: Expr;
  /** Terms for the resolver of the call, e.g. the limits of the called run. Bound with the input, not stored. */
  readonly terms?: Expr;
  /**
   * The output is a report on the called run instead of the run's own output, and the step never fails:
   * `{success, timed_out, output, error?: {code, message}, step, visits, depth, elapsed_seconds, timeout_seconds?, variables}`.
   */
  readonly reports?: boolean;
  /** Bind every task of the called workflow, and of those that it calls, beside its own. */
  readonly policies?: readonly Policy[];
}

export interface WaitStep extends StepCommon {
  readonly kind: "wait";
  readonly wait: Wait;
}

export type Wait =
  | { readonly for: "duration"; readonly durationMs: Expr }
  /** ISO 8601 or milliseconds since the epoch. */
  | { readonly for: "instant"; readonly at: Expr }
  | {
      readonly for: "event";
      readonly name: Expr;
      /** What fields of its payload must be, by path: then it is found wherever it comes from. Absent: it is sent to the run. */
      readonly match?: { readonly [field: string]: Expr };
      readonly timeoutMs?: number;
    };

/** Who may answer an approval. */
export interface AnswerRules {
  /** Names of keys, or groups of them. Absent: whoever may answer runs. */
  readonly approvers?: readonly string[];
  /** How many different people must approve; a no of one is a no. Absent: one. */
  readonly quorum?: number;
  /** Whoever has asked for the run may not. */
  readonly notRequester?: boolean;
  /** Those who were told of the question are told again, so many times, while it is open. */
  readonly reminder?: { readonly afterMs: number; readonly everyMs?: number; readonly times: number };
  /** Then these may answer too; with `replaces` they alone. What was approved before counts all the same. */
  readonly escalation?: { readonly afterMs: number; readonly to: readonly string[]; readonly replaces?: boolean };
}

export interface ApproveStep extends StepCommon, AnswerRules {
  readonly kind: "approve";
  readonly message: Expr;
  /** Shown to the person and, approved unchanged, the step's output. Absent: `{"approved": true}`. */
  readonly show?: Expr;
  readonly allowEdit?: boolean;
  /** JSON Schema that edited data must satisfy. */
  readonly schema?: JsonObject;
  readonly approvalTimeoutMs?: number;
  readonly onApprovalTimeout?: "abort" | "skip";
}

/** Computes a value. Without `value` its output is null and it costs nothing. */
export interface SetStep extends StepCommon {
  readonly kind: "set";
  readonly value?: Expr;
}

/** Shapes the result of the scope that it stands in. */
export interface RespondStep extends StepCommon {
  readonly kind: "respond";
  readonly value: Expr;
}

/** A fan-out: one instance per item of `list`. */
export interface Each {
  readonly list: Expr;
  /** Filled by `liftControls`: how many items there are. */
  readonly count?: Expr;
  /** Instances in flight at once. */
  readonly maxConcurrent: number;
  /** A value that is no list counts as a list of one: in graphs of earlier versions. */
  readonly coerce?: boolean;
}

export interface RetryPolicy {
  /** All tries together, the first included. */
  readonly maxAttempts: number;
  readonly backoff: "fixed" | "linear" | "exponential";
  readonly initialMs: number;
  readonly maxMs: number;
  /** Only failures with these codes are repeated, whatever their executors say. */
  readonly onCodes?: readonly string[];
  /** Of a task: only failures for which it holds are repeated. It reads `failure`, with the number of the `attempt`. */
  readonly when?: Expr;
  /** Share of the delay, 0 to 1, that is drawn deterministically from run, path and attempt. */
  readonly jitter: number;
}

export interface Transition {
  /** Which outcome it belongs to. */
  readonly on: "success" | "failure" | "any";
  readonly when?: Expr;
  /** The condition as its author wrote it, for people. */
  readonly written?: string;
  readonly to: string | End;
  readonly place?: Place;
}

export interface End {
  readonly end: "success" | "failure";
}

/** The place of a step in its source. Lines and columns start at 1. */
export interface Place {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}
