import { resolve } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import type { Place, StartPorts } from "../application/ports.ts";
import { describeWhole } from "../definitions/compile/describe-whole.ts";
import { type ValidatedText, validateSent } from "../definitions/compile/report-on-sent.ts";
import { checkWholeText } from "../definitions/compile/report-on-text.ts";
import { foldersOf } from "../definitions/definition-files.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { isProgramFile } from "../definitions/looks-like-file.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import type { TextValidation } from "../definitions/workflow-schemas.ts";
import { chooseAgent } from "../start/choose-agent.ts";
import { findUnready, isOfThisPlace } from "../start/preflight.ts";

/** Everything that is wrong with a file, all at once. Throws `FILE_NOT_FOUND`. */
export async function validateDefinition(app: StartPorts, file: string, folder: string): Promise<TextValidation> {
  const { appDir, config } = app;
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
  return withNeeds(app, { validation: describeWhole(report), definitions: report.definitions }, { file: path });
}

/** A text that is sent is not connected for, and may call what is sent later. */
const OF_THE_TEXT: ReadonlySet<string> = new Set(["MODEL_UNKNOWN"]);

/** With what a run would lack. What another place may have is a warning here, and keeps a run from beginning all the same. */
async function withNeeds(
  app: StartPorts,
  { validation, definitions }: ValidatedText,
  { file }: { readonly file?: string },
): Promise<TextValidation> {
  const found = await Promise.all(
    definitions.map((definition) =>
      findUnready(app, { definition, ...(file === undefined ? {} : { file }) }, file === undefined ? 0 : undefined),
    ),
  );
  const problems = found.flat().map((problem): ShownProblem => {
    const isWrong = file === undefined ? OF_THE_TEXT.has(problem.code) : !isOfThisPlace(problem.code);
    const word = new RegExp(`(^\\S+:\\d+ |^)error (?=${problem.code} )`);
    return isWrong
      ? problem
      : { ...problem, severity: "warning", rendered: problem.rendered.replace(word, "$1warning ") };
  });
  const ofAll = new Map(problems.map((problem) => [problem.rendered, problem]));
  return {
    ...validation,
    valid: validation.valid && problems.every(({ severity }) => severity === "warning"),
    problems: [...validation.problems, ...[...ofAll.values()].map(describeProblem)],
    workflows: validation.workflows.map((each, index) => ({ ...each, ready: found[index]?.length === 0 })),
  };
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
export async function validateText(app: StartPorts, text: string, withGraph: boolean): Promise<TextValidation> {
  const { config, grant } = app;
  return withNeeds(app, await validateSent(text, { grant, folders: [], ...loadOptionsOf(config) }, withGraph), {});
}
