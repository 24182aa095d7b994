import { readFile } from "node:fs/promises";
import type { JsonObject } from "../core/json.ts";
import type { RunRecord } from "../ports/journal.ts";
import type { Application } from "./application.ts";

/** What has changed since a run began, in sentences. The run goes on with what it pinned. */
export async function compareWithSource(app: Application, record: RunRecord): Promise<readonly string[]> {
  const { journal } = await app.records();
  const { source, agent, script } = await readRunOptions(app, record);
  const changes: string[] = [];
  if (typeof source === "string" && hasChanged(await textOf(source), await journal.readPinned(record.definition))) {
    changes.push(`${source} has changed since the run began; the run goes on with the definition that it began with.`);
  }
  const scriptFile =
    typeof agent === "string" && agent.startsWith("simulated:") ? agent.slice("simulated:".length) : undefined;
  if (scriptFile !== undefined && typeof script === "string" && hasChanged(await textOf(scriptFile), script)) {
    changes.push(`${scriptFile} has changed since the run began; the run goes on with the script that it began with.`);
  }
  return changes;
}

/** What the run was started with. */
async function readRunOptions(app: Application, record: RunRecord): Promise<JsonObject> {
  const { journal } = await app.records();
  const [first] = await journal.readEvents(record.no, { afterSeq: 0, limit: 1 });
  return first?.event.type === "runStarted" ? (first.event.options ?? {}) : {};
}

/** A file that is gone has not changed: nothing would be done differently. */
function hasChanged(now: string | undefined, pinned: string | undefined): boolean {
  return now !== undefined && pinned !== undefined && now !== pinned;
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
