import type { RunRecord } from "../../ports/journal.ts";
import type { Stores } from "../application/ports.ts";
import { readDefinitionText } from "../definitions/read-text-file.ts";
import { readRunStarted } from "./read-run-started.ts";

/** The consequence of a change, as the end of a sentence. */
export interface Consequence {
  readonly definition: string;
  readonly script: string;
}

const GOES_ON: Consequence = {
  definition: "the run goes on with the definition that it began with",
  script: "the run goes on with the script that it began with",
};

/** Changes since a run began, in sentences. A resumed run uses what it pinned. */
export async function compareWithSource(
  app: Pick<Stores, "records">,
  record: RunRecord,
  { definition, script }: Consequence = GOES_ON,
): Promise<readonly string[]> {
  const { journal } = await app.records();
  const { source, agent, script: pinned } = (await readRunStarted(journal, record))?.options ?? {};
  const changes: string[] = [];
  if (
    typeof source === "string" &&
    hasChanged(await textOf(source, record.workflow), await journal.readPinned(record.definition))
  ) {
    changes.push(`${source} has changed since the run began; ${definition}.`);
  }
  const scriptFile =
    typeof agent === "string" && agent.startsWith("simulated:") ? agent.slice("simulated:".length) : undefined;
  if (scriptFile !== undefined && typeof pinned === "string" && hasChanged(await textOf(scriptFile, ""), pinned))
    changes.push(`${scriptFile} has changed since the run began; ${script}.`);
  return changes;
}

/** A file that is gone has not changed: nothing would be done differently. */
function hasChanged(now: string | undefined, pinned: string | undefined): boolean {
  return now !== undefined && pinned !== undefined && now !== pinned;
}

async function textOf(file: string, workflow: string): Promise<string | undefined> {
  return readDefinitionText(file, workflow).catch(() => undefined);
}
