import { basename, relative } from "node:path";
import { missingAgentsFile } from "../operations/agents/missing-agents-file.ts";
import type { Application } from "../operations/application/application.ts";
import type { LibraryChange } from "../operations/definitions/definition-library.ts";
import type { Log } from "../ports/log.ts";

/** What is wrong with definitions, in the log of the server that would serve them. */
export function tellBroken(log: Log, appDir: string, { broken }: LibraryChange): void {
  for (const { file, problems, hasGoodVersion } of broken) {
    for (const { rendered } of problems) log.write("warn", rendered);
    const rest = hasGoodVersion ? "its last good version stays in use" : "it is not served";
    log.write("warn", `${relative(appDir, file) || basename(file)} has problems: ${rest}.`);
  }
}

/** The host serves all the same: the file may come later. */
export function tellMissing(log: Log, app: Application): void {
  const missing = missingAgentsFile(app);
  if (missing !== undefined) log.write("warn", `${missing.code} ${missing.message} ${missing.remedy}`);
}
