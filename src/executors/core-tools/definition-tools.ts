import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { APP_ID, type CoreTool, count, flag, objectOf, succeeded, text, textOf } from "./core-tool.ts";
import type { DefinitionFolder } from "./definition-folder.ts";

const FILE_PATH = { file_path: text("Relative to the application, for example `workflows/a.yaml`.") };
const REVISION = { revision: text("Changes with every change of the content.") };
const ENCODING = {
  encoding: { type: "string", enum: ["utf8", "base64"], description: "How `content` is written. Default: utf8." },
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
      if (call.step?.tenantId === undefined) return tool.run(args, call, signal);
      throw new PawlError("FORBIDDEN", {
        message: `\`${tool.name}\` works on the application's files, which belong to no tenant.`,
        remedy: "Keep what the run needs in the tenant's storage, and read it as `{storage.PATH}`.",
      });
    },
  };
}

function readTool(folder: DefinitionFolder): CoreTool {
  return {
    name: "core.state.getDefinitionFileContent",
    title: "Read a definition file",
    description: "Reads one of the application's files: a workflow, a prompt template, a script.",
    inputSchema: objectOf({ ...APP_ID, ...FILE_PATH, revision: text("Refused if it is not the present one.") }, [
      "file_path",
    ]),
    outputSchema: objectOf({ content: text("The whole file."), ...FILE_PATH, ...REVISION, ...ENCODING }, [
      "content",
      "file_path",
      "revision",
    ]),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    async run(args) {
      const path = textOf(args, "file_path");
      const { content, revision } = await folder.read(path);
      checkRevision(args, path, revision);
      return succeeded({ ...toContent(content), file_path: path, revision });
    },
  };
}

function writeTool(folder: DefinitionFolder): CoreTool {
  return {
    name: "core.state.setDefinitionFileContent",
    title: "Write a definition file",
    description: "Writes one of the application's files as a whole; it is made where there is none.",
    inputSchema: objectOf({ ...APP_ID, ...FILE_PATH, content: text("The whole file."), ...ENCODING }, [
      "file_path",
      "content",
    ]),
    outputSchema: objectOf({ ...FILE_PATH, ...REVISION }, ["file_path", "revision"]),
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    async run(args) {
      const path = textOf(args, "file_path");
      const encoding = args["encoding"] === "base64" ? "base64" : "utf8";
      const revision = await folder.write(path, Buffer.from(textOf(args, "content"), encoding));
      return succeeded({ file_path: path, revision });
    },
  };
}

/** A diff that does not fit changes nothing; a revision that is given must be the present one. */
function diffTool(folder: DefinitionFolder): CoreTool {
  return {
    name: "core.state.applyDefinitionDiff",
    title: "Change a definition file by a diff",
    description: "Applies a unified diff to one of the application's files. Nothing is changed where it does not fit.",
    inputSchema: objectOf(
      {
        ...APP_ID,
        ...FILE_PATH,
        diff: text("A unified diff of this one file."),
        revision: text("Refused if it is not the present one."),
      },
      ["file_path", "diff"],
    ),
    outputSchema: objectOf({ ...FILE_PATH, ...REVISION }, ["file_path", "revision"]),
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    async run(args) {
      const path = textOf(args, "file_path");
      const { content, revision } = await folder.read(path);
      checkRevision(args, path, revision);
      const changed = await applyDiff(decodeText(path, content), textOf(args, "diff"));
      if (changed === undefined) throw diffNotApplied(path);
      return succeeded({ file_path: path, revision: await folder.write(path, Buffer.from(changed)) });
    },
  };
}

/** Undefined: it is no diff of one file, or it does not fit. */
async function applyDiff(content: string, diff: string): Promise<string | undefined> {
  const { applyPatch, parsePatch } = await import("diff");
  try {
    const [patch, ...others] = parsePatch(diff);
    if (patch === undefined || others.length > 0 || patch.hunks.length === 0) return undefined;
    const changed = applyPatch(content, patch);
    return changed === false ? undefined : changed;
  } catch {
    return undefined;
  }
}

function decodeText(path: string, content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new PawlError("FILE_NOT_TEXT", { message: `${path} is not UTF-8 text, so a diff cannot change it.` });
  }
}

function diffNotApplied(path: string): PawlError {
  return new PawlError("DIFF_NOT_APPLIED", { message: `The diff does not fit ${path}.` });
}

function deleteTool(folder: DefinitionFolder): CoreTool {
  return {
    name: "core.state.deleteDefinitionFile",
    title: "Delete a definition file",
    description: "Deletes one of the application's files.",
    inputSchema: objectOf({ ...APP_ID, ...FILE_PATH }, ["file_path"]),
    outputSchema: objectOf({ ...FILE_PATH, deleted: flag("False: there was none.") }, ["file_path", "deleted"]),
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    async run(args) {
      const path = textOf(args, "file_path");
      return succeeded({ file_path: path, deleted: await folder.remove(path) });
    },
  };
}

function listTool(folder: DefinitionFolder): CoreTool {
  const entry = objectOf(
    {
      path: text("Relative to the application."),
      type: { type: "string", enum: ["file", "directory"] },
      size_bytes: count("Of a file."),
    },
    ["path", "type"],
  );
  const directory = { directory_path: text("Relative to the application; empty is the application itself.") };
  return {
    name: "core.state.listDefinitionDirectory",
    title: "List definition files",
    description: "Lists a folder of the application, at most 1,000 entries.",
    inputSchema: objectOf({ ...APP_ID, ...directory, recursive: flag("With all folders below. Default: false.") }, []),
    outputSchema: objectOf(
      { ...directory, entries: { type: "array", items: entry }, truncated: flag("There are more.") },
      ["directory_path", "entries", "truncated"],
    ),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    async run(args) {
      const path = textOf(args, "directory_path");
      const { entries, isCut } = await folder.list(path, args["recursive"] === true);
      return succeeded({ directory_path: path, entries: entries.map((found) => ({ ...found })), truncated: isCut });
    },
  };
}

function checkRevision(args: JsonObject, path: string, present: string): void {
  const asked = args["revision"];
  if (asked === undefined || asked === "" || asked === present) return;
  throw new PawlError("REVISION_UNKNOWN", {
    message: `"${path}" has the revision ${present}; older ones are not kept.`,
  });
}

/** Text as it is; anything else flagged as base64. */
function toContent(content: Uint8Array): { readonly content: string; readonly encoding?: "base64" } {
  try {
    return { content: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    return { content: Buffer.from(content).toString("base64"), encoding: "base64" };
  }
}
