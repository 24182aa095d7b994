import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { appId, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";
import type { DefinitionFolder } from "./definition-folder.ts";

const file = { file_path: z.string().describe("Relative to the application, for example `workflows/a.yaml`.") };
const content = z.string().describe("The whole file.");
const encoding = z.enum(["utf8", "base64"]).optional().describe("How `content` is written. Default: utf8.");
const present = z.string().optional().describe("Refused if it is not the present one.");
const changed = z.strictObject({ ...file, revision: z.string().describe("Changes with every change of the content.") });

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
  return defineCoreTool(
    {
      name: "core.state.getDefinitionFileContent",
      title: "Read a definition file",
      description: "Reads one of the application's files: a workflow, a prompt template, a script.",
      input: z.strictObject({ ...appId, ...file, revision: present }),
      output: changed.extend({ content, encoding }),
      hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ file_path: path, revision: asked }) => {
      const found = await folder.read(path);
      checkRevision(asked, path, found.revision);
      return succeeded({ ...toContent(found.content), file_path: path, revision: found.revision });
    },
  );
}

function writeTool(folder: DefinitionFolder): CoreTool {
  return defineCoreTool(
    {
      name: "core.state.setDefinitionFileContent",
      title: "Write a definition file",
      description: "Writes one of the application's files as a whole; it is made where there is none.",
      input: z.strictObject({ ...appId, ...file, content, encoding }),
      output: changed,
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    },
    async ({ file_path: path, content: text, encoding: written }) =>
      succeeded({ file_path: path, revision: await folder.write(path, Buffer.from(text, written)) }),
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
        diff: z.string().describe("A unified diff of this one file."),
        revision: present,
      }),
      output: changed,
      hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    },
    async ({ file_path: path, diff, revision: asked }) => {
      const found = await folder.read(path);
      checkRevision(asked, path, found.revision);
      const text = readText(found.content);
      if (text === undefined) {
        throw new PawlError("FILE_NOT_TEXT", { message: `${path} is not UTF-8 text, so a diff cannot change it.` });
      }
      const patched = await applyDiff(text, diff);
      if (patched === undefined) {
        throw new PawlError("DIFF_NOT_APPLIED", { message: `The diff does not fit ${path}.` });
      }
      return succeeded({ file_path: path, revision: await folder.write(path, Buffer.from(patched)) });
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
      input: z.strictObject({ ...appId, ...file }),
      output: z.strictObject({ ...file, deleted: z.boolean().describe("False: there was none.") }),
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    },
    async ({ file_path: path }) => succeeded({ file_path: path, deleted: await folder.remove(path) }),
  );
}

function listTool(folder: DefinitionFolder): CoreTool {
  const entry = z.strictObject({
    path: z.string().describe("Relative to the application."),
    type: z.enum(["file", "directory"]),
    size_bytes: z.int().nonnegative().optional().describe("Only of a file."),
  });
  const directory = z.string().describe("Relative to the application; empty is the application itself.");
  return defineCoreTool(
    {
      name: "core.state.listDefinitionDirectory",
      title: "List definition files",
      description: "Lists a folder of the application, at most 1,000 entries.",
      input: z.strictObject({
        ...appId,
        directory_path: directory.optional(),
        recursive: z.boolean().optional().describe("With all folders below. Default: false."),
      }),
      output: z.strictObject({
        directory_path: directory,
        entries: z.array(entry),
        truncated: z.boolean().describe("There are more."),
      }),
      hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    },
    async ({ directory_path: path = "", recursive = false }) => {
      const { entries, isCut } = await folder.list(path, recursive);
      return succeeded({ directory_path: path, entries: entries.map((found) => ({ ...found })), truncated: isCut });
    },
  );
}

function checkRevision(asked: string | undefined, path: string, present: string): void {
  if (asked === undefined || asked === "" || asked === present) return;
  throw new PawlError("REVISION_UNKNOWN", {
    message: `"${path}" has the revision ${present}; older ones are not kept.`,
  });
}

/** Text as it is; anything else flagged as base64. */
function toContent(found: Uint8Array): { readonly content: string; readonly encoding?: "base64" } {
  const text = readText(found);
  return text === undefined
    ? { content: Buffer.from(found).toString("base64"), encoding: "base64" }
    : { content: text };
}

/** Undefined: it is not UTF-8. */
function readText(found: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(found);
  } catch {
    return undefined;
  }
}
