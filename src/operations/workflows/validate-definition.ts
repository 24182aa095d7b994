import { resolve } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import type { Place, Ports } from "../application/ports.ts";
import { describeWhole } from "../definitions/compile/describe-whole.ts";
import { validateSent } from "../definitions/compile/report-on-sent.ts";
import { checkWholeText } from "../definitions/compile/report-on-text.ts";
import { foldersOf } from "../definitions/definition-files.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { isProgramFile } from "../definitions/looks-like-file.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import type { TextValidation } from "../definitions/workflow-schemas.ts";
import { chooseAgent } from "../start/choose-agent.ts";

/** Everything that is wrong with a file, all at once. Throws `FILE_NOT_FOUND`. */
export async function validateDefinition(
  { appDir, config }: Pick<Place, "appDir" | "config">,
  file: string,
  folder: string,
): Promise<TextValidation> {
  const path = resolve(folder, file);
  if (isProgramFile(path)) return validateProgram(path);
  const loading = loadOptionsOf(config);
  const report = await checkWholeText(await readTextFile(path), {
    source: file,
    grant: EVERYTHING,
    folders: foldersOf(path, appDir),
    ...loading,
    around: { appDir, agentsFile: loading.agentsFile, file: path },
    hasInlineAgents: await hasInlineAgents(config, appDir),
  });
  return describeWhole(report);
}

/** Its definitions check themselves while they are made. */
async function validateProgram(file: string): Promise<TextValidation> {
  const { compileProgram, readProgram } = await import("../definitions/program-file.ts");
  const definitions = (await readProgram(file)).map((workflow) => compileProgram(workflow, file));
  return describeWhole({ definitions, isValid: true, problems: [] });
}

/** The provider by configuration alone. Options of a command are not known here. */
async function hasInlineAgents(config: Place["config"], folder: string): Promise<boolean> {
  try {
    return (await chooseAgent({ settings: {}, folder, readText: readTextFile }, config)).agent === "inline";
  } catch (error) {
    if (isPawlError(error)) return false;
    throw error;
  }
}

/** Everything at once. A text that is sent has no folder: files that it names are not looked for. Throws `DEFINITION_TOO_COSTLY`. */
export async function validateText(
  { config, grant }: Pick<Ports, "config" | "grant">,
  text: string,
  withGraph: boolean,
): Promise<TextValidation> {
  return validateSent(text, { grant, folders: [], ...loadOptionsOf(config) }, withGraph);
}
