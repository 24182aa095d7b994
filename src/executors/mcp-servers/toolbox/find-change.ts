import { createHash } from "node:crypto";
import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { TaskQuestion } from "../../../ports/executor.ts";
import type { CallMemory } from "../../../ports/tools/agent-toolbox.ts";
import { toShownText } from "../../output/shown-text.ts";
import { describeTool, type ServerTool } from "../server-tool.ts";

/** Whether a tool is still what the agent began to use. `refused`: a person does not want what it has become. */
export type Change = "none" | "refused" | TaskQuestion;

const MAX_SCHEMA_CHARS = 4_000;
const MAX_DESCRIPTION_CHARS = 2_000;

/**
 * Compares a tool with the one that is on record as used by the agent's step. One that has another description or schema by now may
 * be another tool, or tell the model something else: a person is asked, once for each version.
 */
export async function findChange(tool: ServerTool, { recorded }: CallMemory): Promise<Change> {
  const pinned = await recorded(keyOf(tool));
  const now = toPin(tool);
  if (!isJsonObject(pinned) || pinned["hash"] === now["hash"]) return "none";
  const key = `${keyOf(tool)}/${now["hash"]}`;
  const answer = await recorded(key);
  if (isJsonObject(answer)) return answer["answer"] === "approve" ? "none" : "refused";
  const message = [
    `The MCP server "${tool.server}" has changed its tool "${tool.name}" since the agent began to use it.`,
    "Approve to have it used as it is now, reject to go on without it.",
  ];
  return { key, message: message.join(" "), show: { before: withoutHash(pinned), now: withoutHash(now) } };
}

/** Keeps what a tool was when it was first called. */
export async function pinTool(tool: ServerTool, { record, recorded }: CallMemory): Promise<void> {
  if ((await recorded(keyOf(tool))) === undefined) await record(keyOf(tool), toPin(tool));
}

function keyOf({ server, name }: ServerTool): string {
  return `pin ${server}.${name}`;
}

/** Of what the server says of it, as much as a person can judge, and the hash of all of it. */
function toPin(tool: ServerTool): JsonObject {
  const { title = null, description = null, inputSchema, outputSchema = null, isRepeatable } = tool;
  const all: Json = [title, description, inputSchema, outputSchema, isRepeatable];
  return {
    hash: createHash("sha256").update(writeExact(all)).digest("hex").slice(0, 32),
    description: describeTool(tool).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
    input_schema: toShownText(writeExact(inputSchema)).slice(0, MAX_SCHEMA_CHARS).toWellFormed(),
    ...(isRepeatable ? { may_be_repeated: true } : {}),
  };
}

function withoutHash({ hash: _, ...shown }: JsonObject): JsonObject {
  return shown;
}
