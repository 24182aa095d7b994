import type { Config } from "../../config/load-config.ts";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Grant } from "../../core/trust/grant.ts";
import type { FindExecutor } from "../../hosts/executors.ts";
import type { RunHost } from "../../hosts/run-host.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { CapacityView } from "../../ports/capacity.ts";
import type { Clock, TestClock } from "../../ports/clock.ts";
import type { DatabaseCare } from "../../ports/database-care.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Journal } from "../../ports/journal.ts";
import type { ModelPrices } from "../../ports/model-prices.ts";
import type { PromptRenderer } from "../../ports/prompt-renderer.ts";
import type { RequestRates } from "../../ports/request-rates.ts";
import type { RestateCare } from "../../ports/restate-care.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import type { ApiKeys, StoredKey } from "../../ports/service/api-keys.ts";
import type { Budgets } from "../../ports/service/budgets.ts";
import type { DeadLetterNotes } from "../../ports/service/dead-letter-notes.ts";
import type { Deliveries } from "../../ports/service/deliveries.ts";
import type { IdempotencyKeys } from "../../ports/service/idempotency-keys.ts";
import type { PublishedEvents } from "../../ports/service/published-events.ts";
import type { Schedules } from "../../ports/service/schedules.ts";
import type { ServerLogins } from "../../ports/service/server-logins.ts";
import type { StartRates } from "../../ports/service/start-rates.ts";
import type { WorkflowDefinitions } from "../../ports/service/workflow-definitions.ts";
import type { TerminalCall } from "../../ports/terminals/terminal-tools.ts";
import type { TerminalViews } from "../../ports/terminals/terminal-views.ts";
import type { LibraryEditor, WorkflowLibrary } from "../../ports/terminals/workflow-library.ts";
import type { AgentToolbox } from "../../ports/tools/agent-toolbox.ts";
import type { Waits } from "../../ports/waits.ts";
import type { CompiledTexts } from "../definitions/compiled-texts.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";

/**
 * The ports that operations take: each handler names the ones it uses, and `app` composes them. What costs time to open is behind a method and
 * opened when first asked for.
 */
export type Ports = Place & Principal & Stores & Driving & Library & Execution & Care;

/** For operations that find and keep definitions. */
export type DefinitionPorts = Place & Principal & Stores & Library;

/** For operations that prepare and start runs. */
export type StartPorts = DefinitionPorts & Execution;

/** Where the application is, and what it is set to. */
export interface Place {
  /** Absolute. Registered workflows, `pawl.yaml` and `.env` are here. */
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  readonly clock: Clock;
  /** Takes configured secrets out of a text. */
  mask(text: string): string;
}

/** On whose behalf an operation acts. */
export interface Principal {
  /** Whose runs and files there are. Absent: everybody's. */
  readonly tenantId?: string | undefined;
  /** The most that a run may cost that is started through this, in integer micro-dollars. */
  readonly maxRunCostMicro?: number | undefined;
  /** What texts may reach that are sent or saved through this. */
  readonly grant: Grant;
  /** The key that the caller bears. Absent: the configured one, or a user of this machine. */
  readonly key?: Pick<StoredKey, "id" | "name" | "groups" | "expiresAt" | "tellsContext"> | undefined;
}

/** What is stored. Each store is opened when first asked for. */
export interface Stores {
  /** The record of all runs, for reading: beside the owner, as the owner, or where there has never been one. */
  records(): Promise<Records>;
  files(): Promise<FileStorage>;
  /** Files of runs, below `artifacts/RUN/` for every tenant. The caller checks first that it may see the run. */
  artifacts(): Promise<FileStorage>;
  /** The records of the service beside runs. Any process may write them. */
  service(): Promise<ServiceRecords>;
  /** Undefined: the service has remembered nothing so far, so that nobody has set any. */
  budgets(): Promise<Budgets | undefined>;
  secrets(): Promise<RunSecrets>;
}

/** The process that drives runs, and what runs wait for there. */
export interface Driving {
  /** Becomes the owner of the data directory where nobody is, and goes through the owner otherwise. */
  host(): Promise<AppHost>;
  /** Goes through the owner, and starts one in the background where nobody is. */
  backgroundHost(use?: { readonly onlyStarts?: boolean }): Promise<AppHost>;
  /** The process that owns the data directory now. */
  findOwner(): Promise<Owner>;
  /** Whether a process drives runs now: the owner of the data directory, or one of those that share the database. */
  isDriven(): Promise<boolean>;
  /** What is reserved now, and what these runs wait for, in the process that drives the runs. */
  waits(runs: readonly string[]): Promise<Waits>;
  /** While nobody owns the data: terminals that have outlived their owner. Undefined: there are none. */
  leftTerminals(): Promise<TerminalViews | undefined>;
  readonly capacity: CapacityView;
}

/** Definitions, held ready or fetched. */
export interface Library {
  /** The application's definitions, held ready. Undefined: they are read when they are asked for. */
  readonly library?: Pick<DefinitionLibrary, "list"> | undefined;
  /** Compiled texts of clients. Undefined: each text is compiled when it comes. */
  readonly compiledTexts?: CompiledTexts | undefined;
  /** A file of an application that lives behind an MCP endpoint. Throws `ENDPOINT_NOT_ALLOWED`, `ENDPOINT_FAILED`. */
  fetchDefinitionFile(wanted: WantedFile): Promise<string>;
  /** Terminal workflows that have succeeded. They belong to no tenant. */
  workflowLibrary(): Promise<WorkflowLibrary>;
  /** For who removes and renames them. */
  libraryEditor(): Promise<LibraryEditor>;
}

interface ToolProblem {
  readonly code: ErrorCode;
  readonly message: string;
}

export type FindAgentToolProblem = (
  agent: JsonObject,
  of: { readonly settings: JsonObject; readonly tenantId: string | undefined },
  signal: AbortSignal,
) => Promise<ToolProblem | undefined>;

/** What the steps of a run work with. */
export interface Execution {
  /** Finds the executor of a step, by the options that its run is started with. */
  readonly findExecutor: FindExecutor;
  prompts(): Promise<PromptRenderer>;
  prices(): Promise<ModelPrices>;
  /** The MCP servers of this process, as agents use them. Nothing is connected before it is needed. */
  toolbox(): Promise<AgentToolbox>;
  /** Logins to the application's servers that people have begun at this process, and come back from with a browser. */
  pageLogins(): Promise<PageLogins>;
  /** Why a step that calls this tool would be refused. Undefined: it would not, or nobody knows before `signal` aborts. */
  findToolProblem(
    named: { readonly tool: string; readonly server?: string },
    signal: AbortSignal,
  ): Promise<ToolProblem | undefined>;
  /** The same of an agent that a definition describes: a name of its `approve`, `exclude` or `allow` that no tool has. */
  findAgentToolProblem: FindAgentToolProblem;
  /** Whether programs of steps can be kept in a sandbox on this machine. */
  checkSandbox(): Promise<SandboxState>;
  /** Whether it is known what a model costs. One that is not known at all is left to whoever asks it. */
  hasPrice(model: string): Promise<boolean>;
}

export interface PageLogins {
  /** Returns the address where the person says yes. `by`: the key of who begins. Throws `MCP_SERVER_UNKNOWN`, `MCP_LOGIN_FAILED`. */
  begin(server: string, of: { readonly redirectUrl: string; readonly by: string | undefined }): Promise<string>;
  /** Takes what the person came back with, once. Throws `MCP_LOGIN_FAILED`. */
  finish(query: URLSearchParams, by: string | undefined): Promise<{ readonly name: string; readonly scope: string }>;
}

/** For those who look after data and services. */
export interface Care {
  /** The folder of all data, for who copies it and clears it up. */
  dataFolder(): Promise<DataFolder>;
  /**
   * Copies all data from a data folder or a database into the empty place that the settings name. `files`: the data folder of its
   * values and files. Throws `DATA_EXISTS`, `DATA_LOCKED`, `BACKUP_INVALID`, `SECRET_UNREADABLE`, `BLOB_MISSING`.
   */
  copyData(from: string, files: string | undefined): Promise<CopyReport>;
  /** Why what is written could not be kept now. Undefined: it could, or this process does not own the data. Absent: nobody looks. */
  storageTrouble?(): Promise<PawlError | undefined>;
  /** Whether the bucket answers where values and files are. Undefined: they are in the data folder. Absent: nobody looks. */
  checkBucket?(): Promise<{ readonly place: string; readonly trouble: PawlError | undefined } | undefined>;
  /** How the Redis server is between the processes of a database. Undefined: there is none. Absent: nobody looks. */
  checkRedis?(): Promise<{ readonly trouble: string | undefined } | undefined>;
  /** Looks after the Restate server that drives runs. Undefined: processes of Pawl do. Absent: nobody looks. */
  restate?(): RestateCare | undefined;
  /** Counts requests over all processes. Undefined: each counts for itself. */
  requestRates?(): Promise<RequestRates | undefined>;
  /** Looks after the database of runs and records. Undefined: they are in the data folder. Absent: nobody looks. */
  database?(): DatabaseCare | undefined;
  /** How the configured agent server is. Undefined: none is configured. */
  checkAgentServer(): Promise<{ readonly ok: boolean; readonly detail: string } | undefined>;
}

/** A data folder as a whole. */
export interface DataFolder {
  /** Throws `BACKUP_EXISTS`, `BACKUP_INVALID`. */
  backUp(to: string): Promise<CopiedData>;
  /** Throws `BACKUP_INVALID`, `DATA_EXISTS`, `DATA_LOCKED`. */
  restore(from: string, replace: boolean): Promise<CopiedData>;
  /** Removes blobs that nothing refers to. Throws `STORAGE_SHARED`. */
  collect(onlyLooks: boolean): Promise<{ readonly blobs: number; readonly bytes: number }>;
}

export interface CopyReport {
  /** The data folder or the database. */
  readonly place: string;
  readonly runs: number;
  readonly events: number;
  readonly records: number;
  readonly values: number;
  readonly files: number;
}

interface CopiedData {
  readonly path: string;
  /** The bucket of the values and files, which are not in the copy. Absent: they are. */
  readonly elsewhere?: string;
  readonly files: number;
  readonly bytes: number;
}

/** The file that `core.state.getDefinitionFileContent` asks for, and the request that asks. */
export interface WantedFile {
  readonly endpoint: string;
  readonly appId: string;
  readonly path: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

/** An application with the way out that whoever opened it has to take. */
export interface OpenApplication extends Ports {
  readonly clock: TestClock;
  /** Stays while runs are under way here, then lays down what is left and gives the data directory back. */
  leave(stop: AbortSignal, force: AbortSignal): Promise<void>;
  /** Becomes the owner, and stays until nobody has needed it for some seconds. */
  serve(stop: AbortSignal): Promise<void>;
  /** Counts the time of a start from now on. */
  startClock(): StartClock;
  /** Resolves when all that the service stands on answers, or `stop` aborts. */
  becomeReady(stop: AbortSignal): Promise<void>;
  /** Takes HTTP requests and arms triggers. Becomes the owner, at once or after the process that is. Throws `HOST_REFUSED`, `ADDRESS_UNAVAILABLE`, `DATA_LOCKED`. */
  listen(options: ListenOptions): Promise<HttpService>;
  /** Offers terminals and workflows over them as an MCP server, until the other program is gone or `stop` aborts. */
  serveTerminals(options: ServeTerminalsOptions): Promise<void>;
  /** Lets a person log in to an MCP server. Returns what the login may do, as far as it says. Throws `MCP_LOGIN_FAILED`. */
  logIn(server: NamedServer, options: LogInOptions): Promise<string>;
  /** Forgets the login. False: there was none. */
  logOut(server: NamedServer): Promise<boolean>;
  /** Offers the built-in tools (`core.*`) to other programs as an MCP server, until they are gone or `stop` aborts. */
  serveTools(options: ServeToolsOptions): Promise<void>;
  /** Offers runs, workflows and schedules as an MCP server, until the other program is gone or `stop` aborts. Owns nothing. */
  serveRuns(options: ServeRunsOptions): Promise<void>;
  /** Lays every run down now. The run named `hold` stays down until somebody resumes it. */
  park(force: AbortSignal, hold?: string): Promise<void>;
  /** Closes what is open without waiting for anything: what is not durable by now never happened. */
  close(): Promise<void>;
}

/** One deadline over all that a start does. */
export interface StartClock {
  /** Throws `START_TIMED_OUT` with the part that is waited for, or why the program is not ready, when the time of the start is over. */
  race<T>(work: Promise<T>, part?: string): Promise<T>;
  /** The start is over. */
  stop(): void;
  /** A person may take any time. */
  pausedFor<T>(person: Promise<T>): Promise<T>;
}

export interface ServeToolsOptions {
  /** Absent: over stdin and stdout. Only on loopback; 0 picks a free port. */
  readonly http?: { readonly port: number };
  /** `core_state_getRuntimeValue` in place of `core.state.getRuntimeValue`. */
  readonly plainNames: boolean;
  log(line: string): void;
  readonly stop: AbortSignal;
}

/** How an MCP server is reached, for who offers something to other programs. */
export interface ServeRunsOptions {
  /** The sets of tools that are listed, with commas between. Absent: the usual tools. */
  readonly tools?: string | undefined;
  /** Absent: over stdin and stdout. Beyond loopback a token is needed: throws `HOST_REFUSED`. */
  readonly http?: { readonly host?: string; readonly port: number };
  /** The token that every HTTP request must have. Absent: `server.api_key`. */
  readonly token?: string;
  log(line: string): void;
  readonly stop: AbortSignal;
}

export interface ServeTerminalsOptions extends ServeRunsOptions {
  /** With the tools over runs. */
  readonly withRuns: boolean;
}

/** An MCP server: of the application's, or of a definition that names its URL, which may be a tenant's. */
export interface NamedServer {
  readonly server: string;
  readonly url?: string | undefined;
  readonly tenantId?: string | undefined;
}

export interface LogInOptions {
  readonly opensBrowser: boolean;
  tell(line: string): void;
  readonly stop: AbortSignal;
}

export interface ListenOptions {
  /** False: requests come by `fetch` alone. */
  readonly listen?: boolean;
  readonly host?: string;
  /** 0 picks a free one. */
  readonly port?: number;
  /** Takes a line of the log, without its end. */
  log(line: string): void;
  /** Whether a person reads these lines at a terminal. */
  readonly isTerminal?: boolean;
}

export interface HttpService {
  /** Empty: it does not listen. */
  readonly url: string;
  readonly routes: readonly ServedRoute[];
  /** Other triggers of workflows, for people. */
  readonly triggers: readonly string[];
  /** Answers a request that did not come over its own address: with a key, whatever the address. */
  fetch(request: Request): Promise<Response>;
  /** Takes nothing more. Resolves when whoever waited has been answered. */
  stop(force: AbortSignal): Promise<void>;
}

export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  readonly workflow: string;
  /** Relative to the application; of what was saved through the service that it was. */
  readonly file: string;
}

/** Whether programs can be confined here; if not, why, and what would help. */
export interface SandboxState {
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy?: string;
}

export interface ServiceRecords {
  readonly keys: ApiKeys;
  readonly idempotency: IdempotencyKeys;
  readonly definitions: WorkflowDefinitions;
  readonly deadLetters: DeadLetterNotes;
  readonly deliveries: Deliveries;
  readonly events: PublishedEvents;
  readonly rates: StartRates;
  readonly schedules: Schedules;
  readonly budgets: Budgets;
  readonly logins: ServerLogins;
}

export interface Records {
  readonly journal: Journal;
  readonly blobs: Blobs;
}

/** A host that lasts longer than one owner: what it waits for goes on with the next one, which may be this process. */
export interface AppHost extends RunHost {
  readonly role: "owner" | "guest";
  readonly ownerPid: number;
  readonly ownerSocket: string;
  /**
   * Does a terminal tool over the terminals of the owner: they live and die with it. Throws `REQUEST_INVALID`,
   * `TERMINAL_REFUSED`, and the signal's reason where it was broken off.
   */
  callTerminal(call: TerminalCall, signal: AbortSignal): Promise<Json>;
  /** The terminals of the owner as people see them. Their methods throw `OWNER_GONE` when it is gone. */
  terminals(): Promise<TerminalViews>;
}

export type Owner =
  | { readonly state: "free" }
  | { readonly state: "held"; readonly pid?: number; readonly host?: string; readonly url?: string };

/** Whether a server is there, which delivers webhooks and fires schedules. */
export async function isServed(app: Pick<Driving, "findOwner">): Promise<boolean> {
  const owner = await app.findOwner();
  return owner.state === "held" && owner.url !== undefined;
}
