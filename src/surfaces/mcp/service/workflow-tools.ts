import { hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { BoundedMap } from "../../../core/bounded-map.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { collectInputFields } from "../../../core/graph/indexed-graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports } from "../../../operations/application/ports.ts";
import { registryOf } from "../../../operations/definitions/load-options.ts";
import { listRegistered, type RegisteredDefinition } from "../../../operations/definitions/registry.ts";
import { listSaved, reportOnSaved } from "../../../operations/definitions/saved-definitions.ts";
import type { StoredDefinition } from "../../../ports/service/workflow-definitions.ts";
import type { ServiceTool } from "./service-tool.ts";

interface Runnable {
  readonly name: string;
  readonly graph: Graph;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
}

export type ListFiles = (app: Ports) => Promise<readonly RegisteredDefinition[]>;

/** Definitions that clients have saved, which are compiled once. */
const MAX_KEPT = 2_000;

/** Every workflow as a tool that takes its input: it does what `run_workflow` with `wait` does. */
export class WorkflowTools {
  readonly #tools: ReadonlyMap<string, ServiceTool>;
  readonly #listFiles: ListFiles;
  readonly #saved = new BoundedMap<string, { readonly stored: StoredDefinition; readonly graph: Graph | undefined }>(
    MAX_KEPT,
  );
  readonly #made = new WeakMap<Graph, Pick<ServiceTool["offered"], "description" | "inputSchema">>();

  /** `tools`: those of Pawl, whose names no workflow takes. */
  constructor(tools: readonly ServiceTool[], listFiles: ListFiles = (app) => listRegistered(registryOf(app))) {
    this.#tools = new Map(tools.map((tool) => [tool.offered.name, tool]));
    this.#listFiles = listFiles;
  }

  /** By name, those of the latest definitions first. A name that is taken twice runs nothing, so it is no tool. */
  async list(app: Ports): Promise<readonly ServiceTool[]> {
    const run = this.#tools.get("run_workflow");
    if (run === undefined) return [];
    const all = await this.#listRunnable(app);
    const count = new Map<string, number>();
    for (const { name } of all) count.set(name, (count.get(name) ?? 0) + 1);
    const single = all.filter(({ name }) => count.get(name) === 1);
    const names = nameWorkflows(
      single.map(({ name }) => name),
      this.#tools,
    );
    return single
      .sort((a, b) => b.savedAt - a.savedAt || (a.name < b.name ? -1 : 1))
      .map((each) => this.#toTool(each, { run, toolName: names.get(each.name) ?? each.name }));
  }

  async #listRunnable(app: Ports): Promise<Runnable[]> {
    const [files, saved] = await Promise.all([this.#listFiles(app), listSaved(app)]);
    const found = await Promise.all([
      ...files.map(async ({ name, file, report }) => toRunnable(name, report.definition?.graph, await changedAt(file))),
      ...saved.map(async (stored) => toRunnable(stored.name, await this.#graphOf(app, stored), stored.at)),
    ]);
    return found.flat();
  }

  async #graphOf(app: Ports, stored: StoredDefinition): Promise<Graph | undefined> {
    const key = writeExact([stored.tenantId ?? null, stored.name]);
    const known = this.#saved.get(key);
    if (known !== undefined && isSame(known.stored, stored)) return known.graph;
    const graph = (await reportOnSaved(app, stored)).definition?.graph;
    this.#saved.set(key, { stored, graph });
    return graph;
  }

  #toTool({ name, graph }: Runnable, { run, toolName }: { readonly run: ServiceTool; readonly toolName: string }) {
    const made = this.#made.get(graph) ?? { description: describe(name, graph), inputSchema: toSchema(graph) };
    this.#made.set(graph, made);
    const tool: ServiceTool = {
      ...run,
      offered: { ...run.offered, name: toolName, title: name.slice(0, MOST_TITLE), ...made, takesInput: true },
      set: "workflows",
      perform: (app, input, call) => run.perform(app, { workflow_name: name, input_data: input, wait: true }, call),
    };
    return tool;
  }
}

function isSame(one: StoredDefinition, other: StoredDefinition): boolean {
  return one.version === other.version && one.text === other.text && writeExact(one.grant) === writeExact(other.grant);
}

function toRunnable(name: string, graph: Graph | undefined, savedAt: number): readonly Runnable[] {
  return graph === undefined ? [] : [{ name, graph, savedAt }];
}

/** Zero: a workflow of a program is in no file that is written while it runs. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** What all clients and models take: some allow no other characters, and none allow more. */
const FITTING = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_CHARS = 8;
const MAX_CHARS = 64;

/**
 * The names of tools by the names of workflows. One that fits and is free is the workflow's own; another one ends in a hash of the
 * workflow's name, so that it stays the same whatever else is saved: a client may call it by a list of some time ago.
 */
function nameWorkflows(
  workflows: readonly string[],
  ours: { has(name: string): boolean },
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const isOwn = (name: string) => FITTING.test(name) && !ours.has(name);
  const taken = new Set(workflows.filter(isOwn));
  for (const name of workflows.toSorted()) {
    if (isOwn(name)) {
      names.set(name, name);
      continue;
    }
    const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_CHARS - HASH_CHARS - 1);
    let fitting = name;
    for (let round = 0; !isOwn(fitting) || taken.has(fitting); round += 1)
      fitting = `${plain}_${hash("sha256", `${name}\0${round}`).slice(0, HASH_CHARS)}`;
    taken.add(fitting);
    names.set(name, fitting);
  }
  return names;
}

const MOST_TITLE = 100;
const MOST_DESCRIPTION = 400;

function describe(name: string, { description = "" }: Graph): string {
  const text = description.trim().slice(0, MOST_DESCRIPTION);
  return text === "" ? `Runs the workflow ${name.slice(0, MOST_TITLE)}.` : text;
}

/** Services of models refuse a whole request for one tool with another name of a field, or with a choice at the root. */
const FITTING_FIELD = /^[A-Za-z0-9_.-]{1,64}$/;
const NOT_AT_ROOT = new Set(["$schema", "$id", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"]);
const MOST_SCHEMA = 4_000;

/** The schema of the input as clients can take it. The run checks the input against the whole of it. */
function toSchema(graph: Graph): JsonObject {
  const { schema = {} } = graph.input;
  const root = Object.fromEntries(Object.entries(schema).filter(([name]) => !NOT_AT_ROOT.has(name)));
  const { properties, additionalProperties: others, required, $defs: _, definitions: __, ...brief } = root;
  const ofAny = isJsonObject(others) ? others : {};
  const named = [...collectInputFields(graph)].map((name): [string, Json] => [name, ofAny]);
  const all = isJsonObject(properties) ? Object.entries(properties) : named;
  const fitting = all.filter(([name]) => FITTING_FIELD.test(name));
  const isShort = writeExact(schema).length <= MOST_SCHEMA;
  const fields = Object.fromEntries(fitting.map(([name, field]) => [name, isShort ? field : toBrief(field)]));
  const whole = isShort && fitting.length === all.length ? root : brief;
  const isThere = (name: Json) => typeof name === "string" && Object.hasOwn(fields, name);
  const needed = Array.isArray(required) ? required.filter(isThere) : [];
  return { ...whole, type: "object", properties: fields, required: needed };
}

/** Of a schema too long for a list of tools: `get_workflow` shows it. */
function toBrief(field: Json): JsonObject {
  const type = isJsonObject(field) ? field["type"] : undefined;
  return type === undefined ? {} : { type };
}
