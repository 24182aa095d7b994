import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toArtifactFolder } from "../../ports/artifact-folder.ts";
import { findRun } from "../application/find-run.ts";
import type { Principal, Stores } from "../application/ports.ts";
import { refuseTenant } from "../application/refuse-tenant.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { bytesSchema, type Frozen, idField, listOf, pageQuery, timeSchema } from "../schemas.ts";
import { describeStoredFile } from "../storage/stored-files.ts";

const common = {
  scope: "admin",
  effect: "reads",
  mcp: { no: "A model reads the screen." },
} as const;

const WHOSE = "The recordings are those of all tenants";

const recordingSchema = z
  .object({
    path: z.string().describe("In the storage."),
    run_id: z.string().nullable().describe("The run that has opened the terminal, or typed into it; null: no run has."),
    session_id: z.string(),
    bytes: z.number().int(),
    modified_at: timeSchema.describe("When it was kept: at the end of the session, or of the run."),
  })
  .meta({ id: "Recording" });

export const listRecordings = defineOperation({
  ...common,
  id: "listRecordings",
  summary: "List recordings of terminals, the latest first",
  input: z.strictObject({ ...pageQuery, run_id: idField("Those of one run.", "runs ls").optional() }),
  output: listOf(recordingSchema),
  errors: ["FORBIDDEN", "RUN_NOT_FOUND", "RUN_AMBIGUOUS"],
  http: { method: "GET", path: "/recordings" },
  cli: { no: "`runs show` names those of a run, and `storage ls terminals/` the others." },
  async handle({ app }: OperationContext<Principal & Stores>, { run_id: run, limit, cursor }) {
    refuseTenant(app, WHOSE);
    const folders = run === undefined ? FOLDERS : [toArtifactFolder((await findRun(app, run)).id)];
    const found = (await Promise.all(folders.map((folder) => listBelow(app, folder)))).flat();
    const rest = found
      .map((recording) => ({ recording, key: `${recording.modified_at} ${recording.path}` }))
      .filter(({ key }) => cursor === undefined || key < cursor)
      .sort((a, b) => (a.key > b.key ? -1 : 1));
    const page = rest.slice(0, limit);
    return {
      items: page.map(({ recording }) => recording),
      next_cursor: rest.length > limit ? (page.at(-1)?.key ?? null) : null,
    };
  },
});

export const readRecording = defineOperation({
  ...common,
  id: "readRecording",
  summary: "Download a recording: asciicast, version 2",
  input: z.strictObject({ path: z.string().min(1).describe("As the list names it.") }),
  output: bytesSchema,
  errors: ["FORBIDDEN", "STORAGE_MISSING", "STORAGE_PATH_INVALID"],
  http: { method: "GET", path: "/recordings/{path}", answers: "application/octet-stream" },
  cli: { no: "`storage get` reads it." },
  async handle({ app }: OperationContext<Principal & Stores>, { path }) {
    refuseTenant(app, WHOSE);
    const content = toRecording(path) === undefined ? undefined : await (await app.artifacts()).read(path);
    if (content !== undefined) return content;
    throw new PawlError("STORAGE_MISSING", {
      message: `There is no recording "${path}".`,
      remedy: "List them with `GET /recordings`.",
    });
  },
});

const FOLDERS = ["artifacts/", "terminals/"] as const;
/** The executor of terminals names them; a session that outlives a process is recorded in parts. */
const RECORDING = /^(?:artifacts\/([^/]+)|terminals)\/(session_[0-9a-f]+)(?:-\d+)?\.cast$/;

function toRecording(path: string): { readonly run_id: string | null; readonly session_id: string } | undefined {
  const [, run, session] = RECORDING.exec(path) ?? [];
  return session === undefined ? undefined : { run_id: run ?? null, session_id: session };
}

async function listBelow(app: Stores, folder: string): Promise<readonly Frozen<z.output<typeof recordingSchema>>[]> {
  const files = await (await app.artifacts()).list(folder);
  return files.flatMap((file) => {
    const recording = toRecording(file.path);
    return recording === undefined ? [] : [{ ...describeStoredFile(file), ...recording }];
  });
}
