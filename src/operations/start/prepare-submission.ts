import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { UseLimits } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { DefinitionPorts, Library, StartPorts } from "../application/ports.ts";
import { reportOnSent } from "../definitions/compile/report-on-sent.ts";
import type { TextOrigin } from "../definitions/compile/report-on-text.ts";
import { definitionInvalid } from "../definitions/compile-text.ts";
import { findNamed } from "../definitions/find-named.ts";
import { loadOptionsOf, registryOf } from "../definitions/load-options.ts";
import { findSaved, reportOnSaved } from "../definitions/saved-definitions.ts";
import { fillDirectories } from "./input/fill-directories.ts";
import { toRunInput } from "./input/to-run-input.ts";
import type { Startable } from "./preflight.ts";
import { type PreparedRun, prepareStart } from "./prepare-run.ts";

export interface Submission {
  /** A registered name, or the text of a definition. Never a path: a client does not choose files of this machine. */
  readonly workflow: string;
  /** For a text of agents: the name of one of its workflows or agents. */
  readonly part?: string;
  /** The version of a definition saved through the service. Absent: the newest. */
  readonly version?: number;
  readonly input: JsonObject;
  readonly callbackUrl?: string;
  readonly callbackHeaders?: Readonly<Record<string, string>>;
  readonly maxCostUsd?: number;
  readonly uses?: UseLimits;
  readonly onExceeded?: "stop" | "ask";
  readonly priority?: number;
  /** The provider of agent steps, by name. Scripts are files, which a client cannot name. */
  readonly agent?: "sandstorm" | "inline" | "simulated";
  readonly runId?: string;
}

/**
 * Everything about a run that can be known before it begins. Writes nothing. Throws `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`,
 * `DEFINITION_INVALID`, `INPUT_INVALID`, `AGENT_NOT_CONFIGURED`.
 */
export async function prepareSubmission(app: StartPorts, submission: Submission): Promise<PreparedRun> {
  const { agent, maxCostUsd, uses, onExceeded, priority, callbackUrl, callbackHeaders, runId } = submission;
  const startable = { ...(await toStartable(app, submission)), runId };
  const prepared = await prepareStart(app, startable, {
    folder: app.appDir,
    agent,
    maxCostUsd,
    uses,
    onExceeded,
    priority,
    callbackUrl,
  });
  if (callbackHeaders === undefined) return prepared;
  // They often bear a key. Whoever sends them opens them.
  const sealed = (await app.secrets()).seal(writeExact(callbackHeaders));
  return { ...prepared, options: { ...prepared.options, callback_headers: sealed } };
}

/** Resolves a client's request to a definition and its input. */
export async function toStartable(
  app: DefinitionPorts,
  submission: Pick<Submission, "workflow" | "part" | "version" | "input">,
): Promise<Startable> {
  const { definition, file } = await findSubmitted(app, submission);
  const { graph } = definition;
  const input = await toRunInput(await fillDirectories(app, submission.input, { graph }), graph);
  return { definition, input, file };
}

interface Submitted {
  readonly definition: CompiledDefinition;
  readonly file?: string;
}

/** Throws `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`, `DEFINITION_INVALID`. */
export async function findSubmitted(
  app: DefinitionPorts,
  { workflow, part, version }: Pick<Submission, "workflow" | "part" | "version">,
): Promise<Submitted> {
  const loading = { grant: app.grant, ...loadOptionsOf(app.config) };
  if (part !== undefined) return findPart(workflow, part, loading);
  if (isText(workflow)) {
    if (version !== undefined) throw noVersions("A text that is sent");
    // No folders: scripts and prompts belong to applications, and a text that was sent has none.
    const sent = app.compiledTexts?.report(workflow, loading) ?? reportOnSent(workflow, { folders: [], ...loading });
    const { definition, problems } = await sent;
    if (definition === undefined) throw definitionInvalid(undefined, problems);
    return { definition };
  }
  const places = { ...registryOf(app), findSaved: (name: string) => findSaved(app, name, version) };
  const named = await findNamed(places, workflow);
  if (named === undefined) throw unknownWorkflow(app, { name: workflow, version });
  if (named.in === "storage") {
    const { definition, problems } = await reportOnSaved(app, named.stored);
    if (definition === undefined) throw definitionInvalid(workflow, problems);
    return { definition };
  }
  if (version !== undefined) throw noVersions(`"${workflow}" comes from a file, which`);
  const { report, file } = named.registered;
  if (report.definition !== undefined) return { definition: report.definition, file };
  throw new PawlError("DEFINITION_INVALID", {
    message: `The definition of "${workflow}" has problems.`,
    details: { problems: report.problems.map(({ rendered }) => rendered) },
  });
}

async function findPart(text: string, part: string, loading: Omit<TextOrigin, "folders">): Promise<Submitted> {
  if (!isText(text))
    throw new PawlError("REQUEST_INVALID", {
      message: `\`part\` names one workflow of a text, and "${text}" is a name.`,
      remedy: "Leave `part` out, or send the text of the file as `workflow`.",
    });
  const { definition, problems } = await reportOnSent(text, { folders: [], ...loading, select: { name: part } });
  if (definition === undefined) throw definitionInvalid(undefined, problems);
  if (definition.graph.name === part) return { definition };
  throw new PawlError("WORKFLOW_NOT_FOUND", {
    message: `The text has no workflow "${part}"; it has "${definition.graph.name}".`,
  });
}

function noVersions(what: string): PawlError {
  return new PawlError("REQUEST_INVALID", {
    message: `${what} has no versions.`,
    remedy: "Leave `version` out, or name a definition that was saved through the service.",
  });
}

/** No definition fits on one line, unless it is JSON. */
function isText(workflow: string): boolean {
  return workflow.includes("\n") || workflow.trimStart().startsWith("{");
}

function unknownWorkflow(
  { library }: Library,
  { name, version }: { readonly name: string; readonly version: number | undefined },
): PawlError {
  const meant = didYouMean(name, library?.list().map((each) => each.name) ?? []);
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `There is no workflow "${name}"${version === undefined ? "" : ` with a version ${version}`}.`,
    ...(meant === undefined || meant === name ? {} : { remedy: `Did you mean "${meant}"?` }),
  });
}
