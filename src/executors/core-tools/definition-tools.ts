import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
import { decodeUtf8 } from "../../ports/decode-utf8.ts";
import type { ToolCall } from "../../ports/tools/tool-set.ts";
import { appId, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";
import { type DefinitionFolder, MAX_ENTRIES } from "./definition-folder.ts";

const file = { file_path: z.string().describe("Relative to the application, for example `workflows/a.yaml`.") };
const content = z.string().describe("The whole file.");
const encoding = z.enum(["utf8", "base64"]).optional().describe("How `content` is written. Default: utf8.");
const present = z.string().nullish().describe("Refused if it is not the present one.");
const revision = z.string().describe("Changes with every change of the content.");
const changed = z.strictObject({ resulting_revision: revision });
/** Files have no history here: the log of the step keeps who has changed what. */
const message = {
  commit_message: z.string().optional().describe("Why; it goes to the log."),
  author: z.string().nullish().describe("Who; it goes to the log."),
};

/** `core.state.*DefinitionFile*`: the files of the application. A tenant's run has none of them. */
export function definitionTools(folder: DefinitionFolder): readonly CoreTool[] {
  return [readTool(folder), writeTool(folder), diffTool(folder), deleteTool(folder), listTool(folder)].map(
    notForTenants,
  );
}

function notForTenants(tool: CoreTool): CoreTool {
  return {
    ...tool,
    async run(args, call, signal) {
      if (call.step !== undefined) refuseUngranted(grantOf(call.step.settings), "folders", pathIn(args));
      if (call.step?.tenantId === undefined) return tool.run(args, call, signal);
      throw new PawlError("FORBIDDEN", {
        message: `\`${tool.name}\` works on the application's files, which belong to no tenant.`,
        remedy: "Keep what the run needs in the tenant's storage, and read it as `{storage.PATH}`.",
      });
    },
  };
}

function pathIn(args: Json): string {
  const { file_path: file, dir_path: folder, directory_path: other } = isJsonObject(args) ? args : {};
  const path = file ?? folder ?? other;
  return typeof path === "string" ? path : "";
}

function readTool(folder: DefinitionFolder): CoreTool {
  return defineCoreTool(
    {
      name: "core.state.getDefinitionFileContent",
      title: "Read a definition file",
      description: "Reads one of the application's files: a workflow, a prompt template, a script.",
      input: z.strictObject({
        ...appId,
        ...file,
        revision: present,
        encoding: encoding.describe("How `content` is wanted: base64 for what is no text. Default: utf8."),
      }),
      output: z.strictObject({ content, ...file, revision }),
      hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ file_path: path, revision: asked, encoding: wanted }) => {
      const found = await folder.read(path);
      checkRevision(asked, path, found.revision);
      const text =
        wanted === "base64" ? Buffer.from(found.content).toString("base64") : decodeUtf8(found.content, "keep");
      if (text === undefined) {
        const remedy = "Ask for it with `encoding: base64`.";
        throw new PawlError("FILE_NOT_TEXT", { message: `${path} is not UTF-8 text.`, remedy });
      }
      return succeeded({ content: text, file_path: path, revision: found.revision });
    },
  );
}

function writeTool(folder: DefinitionFolder): CoreTool {
  return defineCoreTool(
    {
      name: "core.state.setDefinitionFileContent",
      title: "Write a definition file",
      description: "Writes one of the application's files as a whole; it is made where there is none.",
      input: z.strictObject({ ...appId, ...file, content, encoding, ...message }),
      output: changed,
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    },
    async (input, call) => {
      const revised = await folder.write(input.file_path, Buffer.from(input.content, input.encoding));
      return succeeded(noteChange(input, revised, call));
    },
  );
}

/** A diff that does not fit changes nothing; a revision that is given must be the present one. */
function diffTool(folder: DefinitionFolder): CoreTool {
  return defineCoreTool(
    {
      name: "core.state.applyDefinitionDiff",
      title: "Change a definition file by a diff",
      description:
        "Applies a unified diff to one of the application's files. Nothing is changed where it does not fit.",
      input: z.strictObject({
        ...appId,
        ...file,
        diff_content: z.string().optional().describe("A unified diff of this one file."),
        diff: z.string().optional().describe("The same as `diff_content`."),
        expected_base_revision: present,
        revision: present.describe("The same as `expected_base_revision`."),
        ...message,
      }),
      output: changed,
      hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    },
    async (input, call) => {
      const {
        file_path: path,
        diff_content: diff = input.diff,
        expected_base_revision: asked = input.revision,
      } = input;
      if (diff === undefined)
        throw new PawlError("MCP_ARGUMENTS_INVALID", { message: "`diff_content` is missing: what is to be changed." });
      const found = await folder.read(path);
      checkRevision(asked, path, found.revision);
      const text = decodeUtf8(found.content, "keep");
      if (text === undefined)
        throw new PawlError("FILE_NOT_TEXT", { message: `${path} is not UTF-8 text, so a diff cannot change it.` });
      const patched = await applyDiff(text, diff);
      if (patched === undefined) throw new PawlError("DIFF_NOT_APPLIED", { message: `The diff does not fit ${path}.` });
      return succeeded(noteChange(input, await folder.write(path, Buffer.from(patched)), call));
    },
  );
}

/** Undefined: it is no diff of one file, or it does not fit. */
async function applyDiff(text: string, diff: string): Promise<string | undefined> {
  const { applyPatch, parsePatch } = await import("diff");
  try {
    const [patch, ...others] = parsePatch(diff);
    if (patch === undefined || others.length > 0 || patch.hunks.length === 0) return undefined;
    const patched = applyPatch(text, patch);
    return patched === false ? undefined : patched;
  } catch {
    return undefined;
  }
}

function deleteTool(folder: DefinitionFolder): CoreTool {
  return defineCoreTool(
    {
      name: "core.state.deleteDefinitionFile",
      title: "Delete a definition file",
      description: "Deletes one of the application's files.",
      input: z.strictObject({ ...appId, ...file, ...message }),
      output: changed,
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    },
    async (input, call) => {
      await folder.remove(input.file_path);
      return succeeded(noteChange(input, NO_REVISION, call));
    },
  );
}

function listTool(folder: DefinitionFolder): CoreTool {
  const directory = z.string().describe("Relative to the application; empty or `.` is the application itself.");
  return defineCoreTool(
    {
      name: "core.state.listDefinitionDirectory",
      title: "List definition files",
      description: `Lists a folder of the application. More than ${MAX_ENTRIES} entries are refused.`,
      input: z.strictObject({
        ...appId,
        dir_path: directory.optional(),
        directory_path: directory.optional().describe("The same as `dir_path`."),
        recursive: z.boolean().optional().describe("With all folders below. Default: false."),
        revision: present,
      }),
      output: z.strictObject({
        entries: z.array(z.string()).describe("Paths relative to the application; those of folders end with `/`."),
        revision: z.string().describe("Changes with the entries and the sizes and times of files."),
      }),
      hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ dir_path: path, directory_path: other, recursive = false, revision: asked }) => {
      const place = path ?? other ?? "";
      const listed = await folder.list(ROOTS.has(place) ? "" : place, recursive);
      checkRevision(asked, place, listed.revision);
      return succeeded({ entries: listed.entries, revision: listed.revision });
    },
  );
}

/** Other ways to write the application itself. */
const ROOTS: ReadonlySet<string> = new Set([".", "./", "/"]);
/** A file that is not there. */
const NO_REVISION = "none";

interface Noted {
  readonly file_path: string;
  readonly commit_message?: string | undefined;
  readonly author?: string | null | undefined;
}

function noteChange({ file_path, commit_message, author }: Noted, revised: string, call: ToolCall): JsonObject {
  const about = { file_path, author: author ?? null, resulting_revision: revised };
  if (commit_message !== undefined) call.log({ type: "log", level: "info", message: commit_message, data: about });
  return { resulting_revision: revised };
}

function checkRevision(asked: string | null | undefined, path: string, present: string): void {
  if (asked == null || asked === "" || asked === present) return;
  throw new PawlError("REVISION_UNKNOWN", {
    message: `"${path}" has the revision ${present}; older ones are not kept.`,
  });
}
