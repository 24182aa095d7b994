import type { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Driving, Place, Ports, Stores } from "../../../operations/application/ports.ts";
import { type Field, fieldsOf, parseInput, toInputSchema, toPlainSchema } from "../../../operations/fields.ts";
import { effectOf, type McpTool, type Operation } from "../../../operations/operation.ts";
import type { ListedOperation } from "../../../operations/operations.ts";
import { toValue } from "../../../operations/parse-json.ts";
import { followRun } from "../../../operations/runs/follow/follow-run.ts";
import { WAIT_SECONDS } from "../../../operations/terminals/run-workflow-tool.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import { cutTexts, isWithin } from "../fit-answer.ts";
import type { CallProgress } from "../progress-teller.ts";
import type { Question } from "../question.ts";
import { askForApproval, askForMissing, takeAnswer, withAnswers } from "./ask-person.ts";
import { describeForModel, withOutputs } from "./describe-for-model.ts";
import type { ServiceCall, ServiceTool } from "./service-tool.ts";

/** The tool of an operation. Undefined: models are not offered it. */
export function toServiceTool(operation: ListedOperation): ServiceTool | undefined {
  const { mcp: tool, scope, summary } = operation;
  if ("no" in tool || "byHand" in tool) return undefined;
  const { does, again, beyond } = effectOf(operation);
  const offered: OfferedTool = {
    name: tool.tool,
    title: tool.title ?? summary,
    description: tool.description ?? `${summary}.`,
    inputSchema: toInput(operation, tool),
    outputSchema: toOutput(operation.output),
    hints: { readOnly: does === "reads", destructive: does === "destroys", idempotent: again, openWorld: beyond },
  };
  return {
    offered,
    scope: scope === "open" ? "read" : scope,
    set: operation.topic.replace(" ", "-"),
    isRare: tool.isRare === true,
    async perform(app, args, call) {
      const { submissions } = call;
      const input = parseInput(operation.input, toGiven(operation, tool, args), (field) => nameOf(tool, field));
      // Handlers return plain data; what JSON leaves out of it is absent anyway.
      const ask = async (asked: Readonly<Record<string, unknown>>) =>
        (await operation.handle({ app, by: "mcp", submissions }, asked)) as JsonObject;
      if (tool.waits === true) return startAndWait({ app, input, ask, call });
      const output = await ask(input);
      if (does !== "reads") return output;
      await takeUp(app, output);
      return "outputs_ref" in output
        ? withOutputs(app, output)
        : fitPage(output, input, { ask, app, isNumbered: isNumbered(operation) });
    },
  };
}

/** Whoever looks at a run that has lost its owner has it go on: its client may be gone as well. */
async function takeUp(app: Ports, { not_driven: isLost }: JsonObject): Promise<void> {
  if (isLost === true && !(await app.isDriven())) await app.host();
}

interface Starting {
  readonly app: Ports;
  readonly input: Readonly<Record<string, unknown>>;
  ask(input: Readonly<Record<string, unknown>>): Promise<JsonObject>;
  readonly call: ServiceCall;
}

/** Starts a run, or goes on with the one whose question the call answers, and waits for it where that is wanted. */
async function startAndWait({ app, input, ask, call }: Starting): Promise<JsonObject | Question> {
  const { asking } = call;
  const answered = await takeAnswer(app, asking);
  let runId: Json | undefined = answered?.runId;
  if (runId === undefined) {
    try {
      // Parsed input is JSON.
      const started = await ask({ ...input, input_data: withAnswers(input["input_data"] as Json, asking) });
      if (input["wait"] !== true) return started;
      runId = started["run_id"];
    } catch (error) {
      const question = askForMissing(error, asking);
      if (question === undefined) throw error;
      return question;
    }
  }
  const { wait_seconds: wait, timeout_seconds: older } = input;
  await waitForRun(app, { runId: String(runId), timeoutSeconds: Number(wait ?? older ?? WAIT_SECONDS) }, call);
  const run = await describeForModel(app, String(runId));
  if (run.completed_at === null && run.status !== "awaiting_approval") return { ...run, next: sayNext(String(runId)) };
  if (run["status"] !== "awaiting_approval" || answered?.isLeft === true) return run;
  return (await askForApproval(app, String(runId), asking)) ?? run;
}

function sayNext(runId: string): string {
  return `The run goes on by itself. Look again with get_run_status (run_id ${runId}); cancel_run ends it.`;
}

interface Page {
  ask(input: Readonly<Record<string, unknown>>): Promise<JsonObject>;
  readonly app: Pick<Place, "config">;
  /** The list has no cursor: a page begins at a number. */
  readonly isNumbered: boolean;
}

/** A page with fewer items, where only their texts would have to be cut too much: so its cursor misses none. */
async function fitPage(output: JsonObject, input: Readonly<Record<string, unknown>>, page: Page): Promise<JsonObject> {
  const { items } = output;
  const tokens = page.app.config.settings.mcp.answer_tokens;
  if (!Array.isArray(items) || items.length < 2 || !(page.isNumbered || typeof input["limit"] === "number"))
    return output;
  if (isWithin(items, tokens) || isWithin(cutTexts(items), tokens)) return output;
  const fewer = { ...input, limit: Math.ceil(items.length / 2) };
  const shorter = await page.ask(fewer);
  const next = Number(input["offset"] ?? 0) + fewer.limit;
  return fitPage(page.isNumbered ? { ...shorter, next_offset: next } : shorter, fewer, page);
}

function nameOf({ names = {} }: McpTool, field: string): string {
  return names[field] ?? field;
}

/** Fields that page by number where a cursor does, and second spellings that a tool does not ask for, are not for models. */
function offeredFields(operation: Operation, { fixed = {}, without = [] }: McpTool): readonly Field[] {
  const skipped = isNumbered(operation) ? without : [...without, "offset"];
  return fieldsOf(operation.input).filter(({ name }) => !(name in fixed) && !skipped.includes(name));
}

function isNumbered({ input }: Operation): boolean {
  return "offset" in input.shape && !("cursor" in input.shape);
}

function usualOf({ usual, limit }: McpTool): JsonObject {
  return limit === undefined ? { ...usual } : { limit: limit.usual, ...usual };
}

function toInput(operation: Operation, tool: McpTool): JsonObject {
  const { limit } = tool;
  const usual = usualOf(tool);
  const fields = offeredFields(operation, tool).map((field): Field => {
    const most: JsonObject = field.name === "limit" && limit !== undefined ? { maximum: limit.most } : {};
    const value = usual[field.name];
    return { ...field, schema: { ...field.schema, ...most, ...(value === undefined ? {} : { default: value }) } };
  });
  const { $defs } = toInputSchema(operation.input);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map(({ name, schema: { aliasOf: _, ...schema } }) => [nameOf(tool, name), schema]),
    ),
    required: fields
      .filter(({ name, isRequired }) => isRequired || tool.required?.includes(name) === true)
      .map(({ name }) => nameOf(tool, name)),
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** The output schema of a tool. It names only fields that are always there, to take little of a model's context. */
function toOutput(output: z.ZodType): JsonObject {
  const { properties, required } = toPlainSchema(output, "output");
  const isAlways = (name: string) => Array.isArray(required) && required.includes(name);
  const always = Object.entries(isJsonObject(properties) ? properties : {}).filter(([name]) => isAlways(name));
  const plain = Object.fromEntries(always.flatMap(([name, schema]) => toPlain(name, schema)));
  return { type: "object", properties: plain, required: Object.keys(plain), additionalProperties: {} };
}

function toPlain(name: string, schema: Json): [string, JsonObject][] {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return typeof type === "string" ? [[name, { type }]] : [];
}

/** The input as the operation names it. An object may come as its text, as clients of the original send it. */
function toGiven(operation: Operation, tool: McpTool, args: JsonObject): JsonObject {
  const { fixed = {} } = tool;
  const fields = offeredFields(operation, tool);
  const byName = new Map(fields.map((field): [string, Field] => [nameOf(tool, field.name), field]));
  const given = Object.entries(args).map(([name, value]): [string, Json] => {
    const field = byName.get(name);
    // A name that is not offered is unknown, also where the operation has a field of that name.
    if (field === undefined) return [name in operation.input.shape ? `${name} ` : name, value];
    return [field.name, field.schema["type"] === "object" ? fromObjectText(value) : value];
  });
  return { ...usualOf(tool), ...Object.fromEntries(given), ...fixed };
}

function fromObjectText(value: Json): Json {
  if (typeof value !== "string") return value;
  if (value.trim() === "") return {};
  return toValue(value, "The argument");
}

/**
 * Waits for the end of a run, or until only a person or an event is left, and tells how far it is. The run goes on whatever
 * becomes of the call: whether a client cancels it because its own time is over cannot be told from a person who does.
 */
async function waitForRun(
  app: Stores & Driving,
  { runId, timeoutSeconds }: { readonly runId: string; readonly timeoutSeconds: number },
  { signal, follow, stopping }: ServiceCall,
): Promise<void> {
  let latest: CallProgress = { done: 0, total: timeoutSeconds, message: "The run begins" };
  const startedAt = performance.now();
  const ended = new Set<string>();
  const tell = follow(() => ({ ...latest, done: Math.round((performance.now() - startedAt) / 1_000) }));
  const patience = AbortSignal.timeout(timeoutSeconds * 1_000);
  await followRun(
    app,
    {
      runId,
      begin: async () => undefined,
      listen(notice) {
        if (notice.type !== "event" || !("path" in notice.event)) return;
        const { type, path } = notice.event;
        if (type === "stepSucceeded" || type === "stepFailed") ended.add(path);
        latest = { ...latest, message: `${ended.size} steps have ended; the latest news is of ${path}` };
        tell();
      },
    },
    AbortSignal.any([signal, patience, stopping]),
  );
}
