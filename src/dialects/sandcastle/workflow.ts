import type { InputContract, RetryPolicy, RunLimits } from "../../core/graph/graph.ts";
import type { Policy } from "../../core/graph/policy.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Range } from "../source/source-text.ts";
import type { Slot, Template } from "./template.ts";

/** A Sandcastle file after reading: defaults filled in, templates parsed, nothing yet checked across steps. */
export interface Workflow {
  readonly name: string;
  readonly description?: string;
  readonly sandstormUrl?: string;
  readonly schedule?: string;
  readonly input: InputContract;
  readonly envAllowed: readonly string[];
  readonly limits: RunLimits;
  readonly steps: readonly StepDefinition[];
  readonly storagePath?: Template;
  readonly completionWebhook?: string;
  readonly failureWebhook?: string;
  readonly approvalWebhook?: string;
  readonly deadLetter: boolean;
}

export interface StepDefinition {
  readonly id: string;
  /** Where the id stands. */
  readonly at: Range;
  /** Where the step begins. */
  readonly start: number;
  readonly description?: string;
  readonly dependsOn: readonly Dependency[];
  readonly fanOut?: FanOut;
  readonly body: StepBody;
  readonly retry?: RetryPolicy;
  readonly onFailure: OnFailure;
  readonly fallback?: Fallback;
  readonly timeoutMs?: number;
  readonly atMostOnce: boolean;
  readonly maxCostMicro?: number;
  readonly exports: readonly Export[];
  /** Of its output. */
  readonly policies?: readonly Policy[];
}

/** A file that a step's output is written to. */
export type Export = CsvExport | ReportExport;

/** Where it lies in the application's storage. */
export interface ExportPlace {
  readonly at: Range;
  readonly directory: Template;
  /** Absent: named after the step. */
  readonly filename?: Template;
}

export interface CsvExport extends ExportPlace {
  readonly kind: "csv";
  readonly mode: "new_file" | "append";
  /** The field of the output that has the rows. */
  readonly rows?: string;
  /** Texts that a spreadsheet would take for formulas stay as they are. */
  readonly keepsFormulas: boolean;
}

export interface ReportExport extends ExportPlace {
  readonly kind: "report";
  readonly key: "report" | "pdf_report";
  readonly format: "html" | "markdown" | "pdf";
  readonly title?: string;
  readonly language?: string;
}

export type OnFailure = "abort" | "skip" | "continue" | "fallback";

export interface Dependency {
  readonly id: string;
  readonly at: Range;
}

export interface FanOut {
  readonly list: Slot;
  readonly maxConcurrent: number;
}

export interface AgentCall {
  readonly prompt: Template;
  readonly model: string;
  readonly maxTurns: number;
  readonly timeoutMs: number;
  readonly outputSchema?: JsonObject;
  /** That agents of Pawl itself get; agent servers have their own. */
  readonly tools?: readonly string[];
}

export interface Fallback extends AgentCall {
  readonly start: number;
}

export type StepBody =
  | AgentBody
  | ApprovalBody
  | SubWorkflowBody
  | { readonly type: "wait"; readonly wait: WaitBody }
  /** Another kind of outside work; `input` is what its executor gets. */
  | { readonly type: "work"; readonly executor: string; readonly input: Value };

export interface AgentBody {
  readonly type: "agent";
  readonly call: AgentCall;
  /** Outputs of direct dependencies that the prompt does not mention are added to it. */
  readonly appendsContext: boolean;
}

export interface ApprovalBody {
  readonly type: "approval";
  readonly message: Template;
  readonly show?: Slot;
  readonly allowEdit: boolean;
  readonly timeoutMs?: number;
  readonly onTimeout: "abort" | "skip";
}

export interface SubWorkflowBody {
  readonly type: "subWorkflow";
  readonly workflow: Template;
  /** Absent: the whole input. */
  readonly input?: ReadonlyMap<string, Value>;
  /** From a name in the step's output to the path in the child's outputs. */
  readonly output?: ReadonlyMap<string, readonly (string | number)[]>;
}

export type WaitBody =
  | { readonly for: "duration"; readonly durationMs: number }
  | { readonly for: "instant"; readonly at: Template }
  | { readonly for: "event"; readonly name: Template; readonly timeoutMs?: number };

/** JSON with templates in its texts. */
export type Value =
  | { readonly kind: "literal"; readonly value: Json }
  | { readonly kind: "template"; readonly template: Template }
  /** One reference and nothing else: the value itself, not its text. */
  | { readonly kind: "slot"; readonly slot: Slot }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Value> }
  | { readonly kind: "list"; readonly items: readonly Value[] };
