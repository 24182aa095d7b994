import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { EVERYTHING, fromStored } from "../../core/trust/grant.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { Place, Ports } from "../application/ports.ts";
import { compileText, holdTo } from "../definitions/compile-text.ts";
import { foldersOf } from "../definitions/definition-files.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { isProgramFile } from "../definitions/looks-like-file.ts";
import { readPinnedGraph } from "../runs/describe/describe-run-reading.ts";
import { narrowDefinition } from "../start/narrow-definition.ts";
import { withWorkflowLimits } from "../start/workflow-limits.ts";

export interface SentStart {
  readonly text: string;
  /** Its name for people. */
  readonly source: string | undefined;
  /** Options of the run: the application and the file that the text comes from, and which part of it is meant. */
  readonly options: JsonObject;
  /** A program's own, which no text can say. */
  readonly compiled?: CompiledDefinition | undefined;
}

/**
 * A start that another process asks for: it sends the text, and the owner compiles it as that process has done. A rerun
 * names the graph that was pinned, a fork what it changes.
 */
export async function compileStart(
  app: Pick<Ports, "appDir" | "config" | "records">,
  sent: SentStart,
): Promise<CompiledDefinition> {
  const { pinned, changes } = sent.options;
  const definition =
    sent.compiled ??
    (typeof pinned === "string"
      ? { ...sent, graph: await readPinnedGraph(app, pinned) }
      : await compileSent(app, sent));
  if (changes === undefined) return definition;
  const { changeDefinition } = await import("./change-definition.ts");
  const changed = await changeDefinition(definition, changes);
  // With other steps it is a text that is sent.
  const grant = fromStored(sent.options["grant"]);
  return grant === undefined ? changed : holdTo(changed, grant);
}

async function compileSent(
  app: Pick<Place, "appDir" | "config">,
  { text, source, options }: SentStart,
): Promise<CompiledDefinition> {
  const appDir = typeof options["app_dir"] === "string" ? options["app_dir"] : app.appDir;
  const { source: sourceFile } = options;
  const file = typeof sourceFile === "string" ? sourceFile : undefined;
  if (file !== undefined && isProgramFile(file)) {
    const { findInProgram, nameOfPinned } = await import("../definitions/program-file.ts");
    return findInProgram(file, nameOfPinned(text));
  }
  const loading = loadOptionsOf(app.config);
  const select = readSelection(options["select"]);
  const definition = await compileText(text, {
    grant: fromStored(options["grant"]) ?? EVERYTHING,
    folders: foldersOf(file, appDir),
    ...loading,
    around: { appDir, agentsFile: loading.agentsFile, file },
    select,
    source,
  });
  const { only_step: onlyStep, start_at: startAt } = options;
  const narrowed = narrowDefinition(definition, {
    ...(typeof startAt === "string" ? { startAt } : {}),
    ...(typeof onlyStep === "string" ? { onlyStep } : {}),
  });
  return withWorkflowLimits(narrowed, options);
}

/** The part's own name, as its graph has it. */
function readSelection(part: Json | undefined): { readonly workflow: string } | { readonly agent: string } | undefined {
  const { workflow, agent } = isJsonObject(part) ? part : {};
  if (typeof workflow === "string") return { workflow };
  return typeof agent === "string" ? { agent } : undefined;
}
