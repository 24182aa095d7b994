import { PawlError } from "../errors/pawl-error.ts";
import { type Expr, literalOf } from "../expressions/expr.ts";
import { namesInEnv, namesInServerUrl } from "../expressions/resolve-env.ts";
import { isWrittenDialect } from "../graph/dialects.ts";
import type { ExecutorKind, Flow, Graph, Place, Step, TaskStep } from "../graph/graph.ts";
import { flowsInside } from "../graph/steps-within.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { allows, CAPABILITIES, type Capability, type Grant, grantOf, isEverything } from "./grant.ts";

/** Something that a definition wants and was not granted. */
export interface Lack {
  readonly capability: Capability;
  /** Which of it. Absent: any. */
  readonly name?: string;
  readonly message: string;
  /** The step that wants it. Absent: a key beside the steps. */
  readonly place?: Place;
}

/**
 * Everything in a graph that goes beyond a grant. Names that values make are not known here: executors look at them again, with
 * the same words (`refuseUngranted`).
 */
export function checkGrant(graph: Graph, grant: Grant): readonly Lack[] {
  if (isEverything(grant)) return [];
  const lacks = wantsOf(graph).filter(({ capability, name }) => !allows(grant, capability, name));
  return [
    ...new Map(lacks.map((lack) => [`${lack.message} ${lack.place?.line} ${lack.place?.column}`, lack])).values(),
  ];
}

/** The variables that prompts of a run may read: those that its definition names, as far as they were granted. */
export function readableVariables({ envAllowed, settings }: Pick<Graph, "envAllowed" | "settings">): readonly string[] {
  const grant = grantOf(settings);
  return envAllowed.filter((name) => allows(grant, "variables", name));
}

/** The word behind `--grant` that allows it. */
function grantWord(capability: Capability, name?: string): string {
  const { names }: { readonly names?: readonly string[] } = CAPABILITIES[capability];
  return name === undefined || names?.length === 0 ? capability : `${capability}:${name}`;
}

export function remedyFor(capability: Capability, name?: string): string {
  const word = grantWord(capability, name);
  return `Use a key that is made with \`--grant ${word}\`, or put the definition into a file of the application. Without keys: \`server.grant: ${word}\`.`;
}

/** Throws `NOT_GRANTED` where a grant does not allow what a step is about to do. */
export function refuseUngranted(grant: Grant, capability: Capability, name?: string): void {
  if (allows(grant, capability, name)) return;
  const message = `It was not granted to ${name === undefined ? CAPABILITIES[capability].saysAll : sentenceFor(capability, name)}.`;
  throw new PawlError("NOT_GRANTED", { message, remedy: remedyFor(capability, name) });
}

function sentenceFor(capability: Capability, name: string): string {
  const { says, saysAll } = CAPABILITIES[capability];
  return says === "" ? saysAll : says.replace("{}", `\`${name}\``);
}

/** The same for one task, when all its values are known. `caller`: the grant of who started a tenant's run. */
export function findTaskLack(
  { kind, input }: { readonly kind: ExecutorKind; readonly input: Json },
  { grant, caller }: { readonly grant: Grant; readonly caller: Grant },
): Lack | undefined {
  if (isEverything(grant) && isEverything(caller)) return undefined;
  const says = "The step";
  const fields = isJsonObject(input) ? input : {};
  const wants = wantsOfKind(kind, says, fields["network"] === true);
  const need = EXECUTOR_NEEDS[kind];
  return (
    wants.find(({ capability, name }) => !allows(grant, capability, name)) ??
    // A tenant's terminals are on this machine, even if the workflow is the operator's.
    (need === "terminals" && !allows(caller, need)
      ? want(need, undefined, `${says} needs to open terminals.`)
      : undefined)
  );
}

function wantsOf(graph: Graph): readonly Lack[] {
  const { dialect, flow, envAllowed, ending, settings, triggers = [] } = graph;
  const secrets = triggers.flatMap((each) => (each.kind === "http" && each.secret !== undefined ? [each.secret] : []));
  const webhooks = [ending.completionWebhook, ending.failureWebhook, ending.approvalWebhook];
  const { sandstorm_url: agentServer, mcp_servers: servers } = settings;
  return [
    ...(isWrittenDialect(dialect) ? [want("dialects", dialect, "The definition is written in")] : []),
    ...envAllowed.map((name) => want("variables", name, "The definition reads the variable")),
    ...[
      ...(typeof agentServer === "string" ? namesInServerUrl(agentServer) : []),
      ...webhooks.flatMap((url) => namesInEnv(url ?? "")),
    ].map((name) => want("variables", name, "An address reads the variable")),
    ...secrets.map((secret) => want("variables", secret, "The route's signature is checked with the variable")),
    ...(ending.storagePath === undefined
      ? []
      : [wantOfStorage(literalText(ending.storagePath), "The outputs are written to the storage")]),
    ...(isJsonObject(servers) ? Object.entries(servers).flatMap(([name, server]) => wantsOfServer(name, server)) : []),
    ...stepsIn(flow).flatMap((step) => wantsOfStep(step, settings).map((lack) => ({ ...lack, place: step.place }))),
  ];
}

function want(capability: Capability, name: string | undefined, says: string): Lack {
  return name === undefined ? { capability, message: says } : { capability, name, message: `${says} \`${name}\`.` };
}

function wantOfStorage(path: string | undefined, says: string): Lack {
  return want("storage", path, path === undefined ? `${says}.` : `${says}, into`);
}

function variablesIn(value: Json, says: string): readonly Lack[] {
  return textsIn(value).flatMap((text) => namesInEnv(text).map((name) => want("variables", name, says)));
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** A server of the definition's own. */
export function wantsOfServer(name: string, server: Json): readonly Lack[] {
  const has = (key: string) => isJsonObject(server) && server[key] !== undefined;
  const isProgram = has("command") || has("server_path") || !has("url");
  return [
    ...(isProgram
      ? [want("commands", undefined, `The MCP server "${name}" is a program that the definition names.`)]
      : []),
    ...(has("url")
      ? [want("own-servers", undefined, `The MCP server "${name}" is at an address that the definition names.`)]
      : []),
    ...variablesIn(server, `The MCP server "${name}" reads the variable`),
  ];
}

function wantsOfStep(step: Step, settings: JsonObject): readonly Lack[] {
  const says = `Step '${step.id}'`;
  if (step.kind === "task") return wantsOfTask(step, says, settings);
  const need = STEP_NEEDS[step.kind];
  if (need === "nothing") return [];
  const name = step.kind === "call" ? literalText(step.workflow) : undefined;
  // A computed name is not known yet, and a whole definition has none.
  return name === undefined || name.includes("\n") ? [] : [want(need, name, `${says} calls the workflow`)];
}

function wantsOfTask(step: TaskStep, says: string, settings: JsonObject): readonly Lack[] {
  const input = step.input.op === "object" ? step.input.entries : {};
  const { network } = input;
  const wants = wantsOfKind(step.executor, says, network !== undefined && literalOf(network) !== false);
  const path = EXECUTOR_NEEDS[step.executor] === "storage" ? exportPathOf(input) : undefined;
  const exports = path === undefined ? [] : [wantOfStorage(path, `${says} writes to the storage`)];
  return [
    ...wants,
    ...exports,
    ...serversOf(input, settings).map((name) => want("servers", name, `${says} uses the MCP server`)),
  ];
}

/** The place of an export, without its ending. Undefined: values make it, and its executor looks at it. */
function exportPathOf({ directory, filename, step }: Fields): string | undefined {
  const [folder, name] = [literalOf(directory), literalOf(filename ?? step)];
  if (typeof folder !== "string" || typeof name !== "string") return undefined;
  return `${folder.trim().replace(/^\.\/|\/+$/g, "")}/${name}`;
}

function wantsOfKind(kind: ExecutorKind, says: string, hasNetwork: boolean): readonly Lack[] {
  const need = EXECUTOR_NEEDS[kind];
  const isOfKind = want("executors", kind, `${says} is of the kind`);
  if (need === "nothing") return [isOfKind];
  if (need !== "code") return [isOfKind, want(need, undefined, `${says} needs to ${CAPABILITIES[need].saysAll}.`)];
  return [
    isOfKind,
    want("code", "sandbox", `${says} runs code in the`),
    ...(hasNetwork ? [want("code", "network", `${says} runs code with the`)] : []),
  ];
}

/** Configured servers that a tool step or an agent names. What a definition brings itself is looked at with its settings. */
function serversOf(input: Fields, { mcp_servers: own }: JsonObject): readonly string[] {
  const agent = literalOf(input["agent"]);
  const clients = isJsonObject(agent) ? agent["clients"] : undefined;
  const named = [literalOf(input["server"]), ...(Array.isArray(clients) ? clients : [])];
  const isOwn = (name: string) => isJsonObject(own) && Object.hasOwn(own, name);
  return named.filter((name): name is string => typeof name === "string" && !isOwn(name));
}

type Fields = { readonly [name: string]: Expr | undefined };

function literalText(expr: Expr): string | undefined {
  const value = literalOf(expr);
  return typeof value === "string" ? value : undefined;
}

/** Every step, in its own place or in that of the step around it. */
function stepsIn(flow: Flow, around?: Place): readonly Step[] {
  return flow.steps.flatMap((step) => {
    const place = step.place ?? around;
    const inner = flowsInside(step).flatMap((inside) => stepsIn(inside.flow, place));
    return [place === undefined ? step : { ...step, place }, ...inner];
  });
}

/**
 * What a definition must be granted for what it does. The tables are whole: a new kind of executor or of step, and a new key of a
 * dialect (`reach` in its `dialect.ts`), does not compile without saying what it reaches.
 */
type Need = Capability | "nothing";

/** Beside `executors`, which holds for every task. Tools and agents are looked at by the servers that they name. */
const EXECUTOR_NEEDS: Readonly<Record<ExecutorKind, Need>> = {
  agent: "nothing",
  inline: "nothing",
  llm: "nothing",
  mcp: "nothing",
  http: "nothing",
  fail: "nothing",
  code: "code",
  function: "code",
  terminal: "terminals",
  csv: "storage",
  report: "storage",
};

const STEP_NEEDS: Readonly<Record<Step["kind"], Need>> = {
  task: "executors",
  call: "workflows",
  flow: "nothing",
  wait: "nothing",
  approve: "nothing",
  set: "nothing",
  respond: "nothing",
};
