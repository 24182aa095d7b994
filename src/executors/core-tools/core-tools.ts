import { z } from "zod";
import { ERRORS } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import type { CallingStep, OfferedTool, ToolCall, ToolSet } from "../../ports/tools/tool-set.ts";
import { toFailed, toRefused } from "../output/failure.ts";
import { describeKnown } from "../output/near-names.ts";
import { anything, appId, type CoreTool, defineCoreTool, object, succeeded } from "./core-tool.ts";
import { DefinitionFolder } from "./definition-folder.ts";
import { definitionTools } from "./definition-tools.ts";
import { RUNTIME_VALUE, SIMPLE_KV, StoredValues, valueTools } from "./value-tools.ts";

export interface CoreToolsOptions {
  /** The application. */
  readonly folder: string;
  /** Places in it that no tool may touch: the data directory. */
  readonly forbidden: readonly string[];
  /** The storage for values of callers that are no steps. */
  files(): Promise<FileStorage>;
  /** All that `core.framework.getConfigValue` may read. */
  readonly configuration: JsonObject;
  /** Absent: there is no model to ask, and the tool is not there. */
  readonly generate?: Generate;
  /** Absent: commands are not allowed. */
  readonly runCommand?: RunCommand;
  /** Absent: nobody sends events or starts runs, and the tools are not there. */
  readonly sends?: Sends;
  /** Milliseconds, for values that expire. Default: the machine's clock. */
  readonly now?: () => number;
}

/** What a step does to other runs, once however often the step is tried. */
export interface Sends {
  /** Throws `EVENT_UNKNOWN` and its kin. */
  event(
    event: { readonly name: string; readonly payload: JsonObject; readonly sourceAppId?: string | undefined },
    step: CallingStep,
  ): Promise<JsonObject>;
  /** Throws what a start throws. */
  start(of: { readonly workflow: string; readonly input: JsonObject }, step: CallingStep): Promise<JsonObject>;
}

const RESERVED = ["core.", "community.database.simple_kv."];

/** The tools that every application has without configuring a server. */
export function createCoreTools(options: CoreToolsOptions): ToolSet {
  const { files, generate, sends, now = Date.now } = options;
  return new CoreTools([
    ...definitionTools(new DefinitionFolder(options.folder, options.forbidden)),
    ...valueTools({
      values: new StoredValues(files, "runtime-values", now),
      set: "core.state.setRuntimeValue",
      get: "core.state.getRuntimeValue",
      remove: "core.state.deleteRuntimeValue",
      what: "runtime value",
      answers: RUNTIME_VALUE,
    }),
    ...(generate === undefined ? [] : [llmTool(generate)]),
    commandTool(options.runCommand),
    ...frameworkTools(options.configuration),
    ...(sends === undefined ? [] : [eventTool(sends), startTool(sends)]),
    ...valueTools({
      values: new StoredValues(files, "simple-kv", now),
      set: "community.database.simple_kv.set",
      get: "community.database.simple_kv.get",
      remove: "community.database.simple_kv.delete",
      what: "value",
      answers: SIMPLE_KV,
    }),
  ]);
}

class CoreTools implements ToolSet {
  readonly #tools: ReadonlyMap<string, CoreTool>;

  constructor(tools: readonly CoreTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get tools(): readonly OfferedTool[] {
    return [...this.#tools.values()];
  }

  has(name: string): boolean {
    return this.#tools.has(name) || RESERVED.some((prefix) => name.startsWith(prefix));
  }

  async call(name: string, call: ToolCall, signal: AbortSignal): Promise<Outcome> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return this.#unknown(name);
    try {
      return await tool.run(call.arguments, call, signal);
    } catch (error) {
      if (signal.aborted)
        return toFailed("INTERRUPTED", {
          message: "The call was cancelled.",
          retryable: true,
          effect: "unknown",
          costMicro: 0,
        });
      return toRefusal(error, tool);
    }
  }

  #unknown(name: string): Failed {
    const message = `There is no tool \`${name}\`. ${describeKnown(name, [...this.#tools.keys()])}`;
    return toRefused("MCP_TOOL_UNKNOWN", message);
  }
}

/** Errors that a user can do something about become failures; anything else is a defect and is thrown on. */
function toRefusal(error: unknown, { hints }: CoreTool): Failed {
  if (!isPawlError(error)) throw error;
  const { code, message, remedy, details } = error;
  return toFailed(code, {
    // The remedy of the table is shown with the code; one that knows better would be lost.
    message: remedy === ERRORS[code].remedy ? message : `${message} ${remedy}`,
    retryable: false,
    effect: hints.openWorld ? "unknown" : "none",
    costMicro: 0,
    details,
  });
}

/** `core.framework.*`. `configuration` is all that can be read: put nothing secret into it. */
function frameworkTools(configuration: JsonObject): readonly CoreTool[] {
  return [
    defineCoreTool(
      {
        name: "core.framework.getConfigValue",
        title: "Read a configuration value",
        description:
          "Reads a value that the application's configuration gives to workflows, or one of a few harmless settings.",
        input: z.strictObject({
          ...appId,
          key: z.string().describe("For example `uhlp.max_steps`, or a key of `server.context.configuration`."),
          component_id: z.string().optional().describe("Changes nothing: there is one configuration."),
        }),
        output: z.strictObject({ value: anything.describe("Null where there is none.") }),
        hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
      async ({ key }) => succeeded({ value: lookUp(configuration, key) ?? null }),
    ),
    defineCoreTool(
      {
        name: "core.framework.logFrameworkMessage",
        title: "Write to the log",
        description: "Writes a message to the log of the step or of the server.",
        input: z.strictObject({
          ...appId,
          level: z.enum(["debug", "info", "warn", "error", "critical"]).optional().describe("Default: info."),
          message: z.string().describe("What there is to say."),
          context: object.optional().describe("Who says it: `component_name`, `timestamp`, `traceId` and more."),
          data: anything.optional().describe("More of it."),
        }),
        output: z.strictObject({}),
        hints: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
      },
      async ({ level = "info", message, context, data }, call) => {
        const more = { ...(context !== undefined && { context }), ...(data !== undefined && { data }) };
        call.log({ type: "log", level, message, ...more });
        return succeeded({});
      },
    ),
  ];
}

function eventTool(sends: Sends): CoreTool {
  return defineCoreTool(
    {
      name: "core.events.publish",
      title: "Send an event",
      description: "Starts the workflows that the event triggers, and goes to the run that waits for its fields.",
      input: z.strictObject({
        ...appId,
        event: z.string().min(1).describe("Its name."),
        payload: object.nullish().describe("What it brings."),
        source_app_id: z.string().nullish().describe("The application that it comes from, for triggers that want one."),
      }),
      output: z.strictObject({
        runs: z
          .array(z.strictObject({ run_id: z.string(), workflow: z.string() }))
          .describe("Those that it has started."),
        waiting: object.optional().describe("`run_id` of the run that has it, or until when it is kept for one."),
      }),
      hints: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ event: name, payload, source_app_id: sourceAppId }, { step }) => {
      if (step === undefined) throw new TypeError("only steps send events");
      return succeeded(
        await sends.event({ name, payload: payload ?? {}, sourceAppId: sourceAppId ?? undefined }, step),
      );
    },
  );
}

function startTool(sends: Sends): CoreTool {
  return defineCoreTool(
    {
      name: "core.workflows.start",
      title: "Start a workflow",
      description: "Starts a run of its own, and does not wait for it.",
      input: z.strictObject({
        ...appId,
        workflow: z.string().min(1).describe("A name, or a file of the application."),
        input: object.nullish().describe("What it is started with."),
      }),
      output: z.strictObject({ run_id: z.string(), workflow: z.string() }),
      hints: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ workflow, input }, { step }) => {
      if (step === undefined) throw new TypeError("only steps start runs");
      return succeeded(await sends.start({ workflow, input: input ?? {} }, step));
    },
  );
}

/** A whole key first (`uhlp.max_steps`), then a path through maps. */
function lookUp(values: JsonObject, key: string): Json | undefined {
  if (Object.hasOwn(values, key)) return values[key];
  const dot = key.indexOf(".");
  if (dot === -1) return undefined;
  const [head, rest] = [key.slice(0, dot), key.slice(dot + 1)];
  const inner = Object.hasOwn(values, head) ? values[head] : undefined;
  return isJsonObject(inner) ? lookUp(inner, rest) : undefined;
}

const tokens = z.int().min(0).describe("Tokens.");

function llmTool(generate: Generate): CoreTool {
  return defineCoreTool(
    {
      name: "core.llm.generate",
      title: "Ask a language model",
      description: "Sends one prompt to a configured model and returns its answer with the tokens used.",
      input: z.strictObject({
        ...appId,
        prompt: z.string().describe("What the model is asked."),
        model: z.string().nullish().describe("`provider:model` or an alias; the configured one where it is left out."),
        parameters: object.nullish().describe("For the model, for example `temperature`."),
        output_format: z.enum(["text", "json", "xml", "yaml"]).nullish(),
        output_schema: object.nullish().describe("A JSON Schema that the answer must fit."),
      }),
      output: z.strictObject({
        completion: z.string().describe("The answer. A structured one as JSON."),
        metrics: z.strictObject({
          token_usage: z.strictObject({ prompt: tokens, completion: tokens, total: tokens }),
        }),
      }),
      hints: { readOnly: true, destructive: false, idempotent: false, openWorld: true },
    },
    async ({ prompt, model, parameters, output_format: outputFormat, output_schema: outputSchema }, call, signal) => {
      const request = {
        prompt,
        model: model ?? undefined,
        parameters: parameters ?? undefined,
        outputFormat: outputFormat ?? undefined,
        outputSchema: outputSchema ?? undefined,
      };
      const outcome = await generate(request, signal, call.step);
      return outcome.status === "succeeded" ? { ...outcome, output: withText(outcome.output) } : outcome;
    },
  );
}

function withText(output: Json): Json {
  if (!isJsonObject(output) || typeof output["completion"] === "string") return output;
  return { ...output, completion: writeExact(output["completion"]) };
}

interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Runs a command in the sandbox. Throws `TIMEOUT`. */
export type RunCommand = (request: CommandRequest, signal: AbortSignal) => Promise<CommandResult>;

/** `core.linux.executeCommand`; without `run` it refuses. */
function commandTool(run: RunCommand | undefined): CoreTool {
  return defineCoreTool(
    {
      name: "core.linux.executeCommand",
      title: "Run a command",
      description: "Runs a program in a sandbox, without a shell, and returns what it printed.",
      input: z.strictObject({
        ...appId,
        command: z.string().min(1).describe("The program."),
        args: z.array(z.string()).optional().describe("Passed as they are."),
        timeout_seconds: z.number().gt(0).max(600).nullish().describe("Default: 30."),
      }),
      output: z.strictObject({
        stdout: z.string().describe("What it printed."),
        stderr: z.string().describe("What it complained."),
        exit_code: z.int(),
      }),
      hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    },
    async ({ command, args = [], timeout_seconds: seconds }, call, signal) => {
      if (call.step !== undefined) refuseUngranted(grantOf(call.step.settings), "code", "sandbox");
      if (run === undefined)
        throw new PawlError("COMMANDS_NOT_ALLOWED", { message: "`core.linux.executeCommand` is switched off." });
      const { stdout, stderr, exitCode } = await run({ command, args, timeoutMs: (seconds ?? 30) * 1_000 }, signal);
      return succeeded({ stdout, stderr, exit_code: exitCode });
    },
  );
}
