import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import { Regexes } from "../../src/app/regexes.ts";
import { createMask } from "../../src/config/create-mask.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { EVERYTHING } from "../../src/core/trust/grant.ts";
import type { TerminalOptions } from "../../src/executors/terminal/terminal-options.ts";
import { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { AppHost, Ports } from "../../src/operations/application/ports.ts";
import { resolveCall } from "../../src/operations/start/resolve-call.ts";
import { runTerminalWorkflow, type WorkflowWatch } from "../../src/operations/terminals/run-terminal-workflow.ts";
import type { RunWorkflowResponse } from "../../src/operations/terminals/run-workflow-tool.ts";
import { readRunWorkflowRequest } from "../../src/operations/terminals/run-workflow-tool.ts";
import { NO_BUDGETS } from "../../src/ports/waits.ts";
import { TerminalLibrary } from "../../src/storage/files/terminal-library.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { type RealTerminals, realTerminals } from "./real-terminals.ts";

export interface TestApplication {
  readonly app: Ports;
  readonly library: TerminalLibrary;
  readonly terminals: RealTerminals;
  readonly defects: unknown[];
  /** Runs a request as it comes in. */
  run(request: JsonObject, watch?: Partial<WorkflowWatch>): Promise<RunWorkflowResponse>;
}

/** An application whose records are in memory and whose terminals, opened in its folder, and library are real. */
export async function testApplication(
  environment: Readonly<Record<string, string>> = {},
  terminalOptions: Partial<TerminalOptions> = {},
): Promise<TestApplication> {
  const appDir = temporaryFolder();
  const config = await loadConfig({ appDir, flags: {}, environment });
  const terminals = realTerminals(terminalOptions, { currentDir: appDir });
  const [journal, blobs, files] = [new MemoryJournal(), new MemoryBlobs(), new MemoryFileStorage()];
  const { clock, executor } = terminals;
  const regexes = new Regexes();
  const mask = createMask([...config.secrets, environment["SECRET_TOKEN"] ?? ""]);
  const defects: unknown[] = [];
  const findExecutor = async () => executor;
  const host = new LocalHost({
    journal,
    blobs,
    files,
    clock,
    findExecutor,
    resolveCall: (call) => resolveCall(app, call),
    mask,
    env: config.env,
    matches: (...asked) => regexes.matches(...asked),
    onDefect: (error) => defects.push(error),
  });
  const appHost: AppHost = Object.assign(host, {
    role: "owner" as const,
    ownerPid: process.pid,
    ownerSocket: "",
    callTerminal: () => Promise.reject(new Error("Nobody calls tools here.")),
    terminals: () => Promise.reject(new Error("Nobody looks at terminals here.")),
  });
  const service = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => service.close());
  const library = new TerminalLibrary({ dir: join(appDir, ".terminal_control_workflows") });
  const app: Ports = {
    appDir,
    dataDir: join(appDir, ".pawl"),
    budgets: async () => service.budgets,
    config,
    clock,
    grant: EVERYTHING,
    findExecutor,
    mask,
    records: async () => ({ journal, blobs }),
    files: async () => files,
    artifacts: async () => files,
    secrets: () => Promise.reject(new Error("Nothing is secret here.")),
    service: async () => service,
    host: async () => appHost,
    backgroundHost: async () => appHost,
    findOwner: async () => ({ state: "free" }),
    isDriven: async () => false,
    leftTerminals: async () => undefined,
    workflowLibrary: async () => library,
    libraryEditor: () => Promise.reject(new Error("Nobody edits the library here.")),
    prompts: () => Promise.reject(new Error("There are no prompts.")),
    findToolProblem: async () => undefined,
    findAgentToolProblem: async () => undefined,
    prices: () => Promise.reject(new Error("Nobody asks for prices here.")),
    fetchDefinitionFile: () => Promise.reject(new Error("There is no endpoint.")),
    toolbox: () => Promise.reject(new Error("There are no MCP servers.")),
    pageLogins: () => Promise.reject(new Error("There are no MCP servers.")),
    hasPrice: async () => true,
    checkAgentServer: async () => undefined,
    capacity: { pools: () => [], waitsOf: () => [] },
    waits: async () => ({ ...NO_BUDGETS, capacity: [] }),
    checkSandbox: async () => ({ ok: true, detail: "There is one." }),
    dataFolder: () => Promise.reject(new Error("Nobody asks for the data folder here.")),
    copyData: () => Promise.reject(new Error("Nothing is copied here.")),
  };
  return {
    app,
    library,
    terminals,
    defects,
    run: (request, watch = {}) =>
      runTerminalWorkflow({ app, library }, readRunWorkflowRequest(request), {
        signal: new AbortController().signal,
        ...watch,
      }),
  };
}
