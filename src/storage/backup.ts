import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PawlError } from "../core/errors/pawl-error.ts";
import { writeExact } from "../core/exact-json.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { parseJson } from "../core/parse-json.ts";
import { copyIfThere, copyTo, holdFolder, listFiles, putInPlace, sync, syncAll } from "./data-folder.ts";
import { toFileFailure } from "./files/durable-write.ts";
import { toReadFailure } from "./sqlite/storage-failure.ts";

export interface BackupReport {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

const MANIFEST = "backup.json";
const FORMAT = 1;
/** What belongs to a process, not to the data. The key of the secrets is to lie elsewhere than what it opens. */
const LEFT_OUT =
  /^(owner\.(db|log|sock)|lock\.json|space\.probe|secrets\.key|pawl\.db-mark|backup\.json)|-(wal|shm|journal)$|\.new$/;
const INTO_ANOTHER = "End it first, or restore into another folder with `--data DIR`.";

/**
 * Copies a data folder beside the processes that use it: first each database as it is at one moment, then the files, so that all that the
 * databases refer to is there. The copy has its name when it is complete. Throws `BACKUP_EXISTS`, `JOURNAL_IO`, `JOURNAL_FULL`.
 */
export async function backUp(dataDir: string, target: string): Promise<BackupReport> {
  const to = resolve(target);
  if (existsSync(to)) throw new PawlError("BACKUP_EXISTS", { message: `${to} is there already.` });
  if (!existsSync(join(dataDir, "pawl.db")))
    throw new PawlError("BACKUP_INVALID", { message: `${dataDir} has no journal: nothing was recorded there.` });
  const unfinished = `${to}.unfinished`;
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    const { databases, files } = await listData(dataDir);
    for (const name of databases) await copyDatabase(join(dataDir, name), join(unfinished, name));
    // Files that have come since: a database may refer to them.
    const later = (await listData(dataDir)).files;
    for (const name of new Set([...files, ...later])) await copyIfThere(join(dataDir, name), join(unfinished, name));
    const report = await measure(unfinished);
    const manifest = { format: FORMAT, made_at: new Date().toISOString(), ...report };
    await writeFile(join(unfinished, MANIFEST), `${writeExact(manifest, 2)}\n`, { mode: 0o600 });
    await syncAll(unfinished);
    await rename(unfinished, to);
    await sync(dirname(to));
    return { path: to, ...report };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw toFileFailure(error, to);
  }
}

/**
 * Makes a data folder from a backup. What is there is moved beside it where `replace` says so. Nobody may own the folder.
 * Throws `BACKUP_INVALID`, `DATA_EXISTS`, `DATA_LOCKED`, `JOURNAL_IO`, `JOURNAL_FULL`.
 */
export async function restore(from: string, dataDir: string, replace: boolean): Promise<BackupReport> {
  const source = resolve(from);
  await checkBackup(source);
  const isThere = existsSync(join(dataDir, "pawl.db"));
  if (isThere) holdFolder(dataDir, INTO_ANOTHER).close();
  if (isThere && !replace)
    throw new PawlError("DATA_EXISTS", { message: `${dataDir} has a journal, which the backup would replace.` });
  const unfinished = `${dataDir}.restoring`;
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    for (const name of await listFiles(source))
      if (name !== MANIFEST) await copyTo(join(source, name), join(unfinished, name));
    await copyIfThere(join(dataDir, "secrets.key"), join(unfinished, "secrets.key"));
    const report = await measure(unfinished);
    await putInPlace(unfinished, dataDir);
    return { path: dataDir, ...report };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw toFileFailure(error, dataDir);
  }
}

async function checkBackup(source: string): Promise<void> {
  const text = await readFile(join(source, MANIFEST), "utf8").catch(() => "");
  const manifest: Json | undefined = parseJson(text);
  const invalid = (why: string) =>
    new PawlError("BACKUP_INVALID", { message: `${source} cannot be restored: ${why}.` });
  if (!isJsonObject(manifest)) throw invalid("it has no backup.json that this Pawl can read");
  const { format } = manifest;
  if (format !== FORMAT) throw invalid(`its backup.json has the format ${format}, and this Pawl reads ${FORMAT}`);
  const { files, bytes } = await measure(source);
  if (files !== manifest["files"] || bytes !== manifest["bytes"])
    throw invalid(
      `it has ${files} files of ${bytes} bytes, and was made with ${manifest["files"]} of ${manifest["bytes"]}`,
    );
  for (const name of await listFiles(source)) {
    const fault = name.endsWith(".db") ? findFault(join(source, name)) : undefined;
    if (fault !== undefined) throw invalid(`${name} is damaged (${fault})`);
  }
}

function findFault(path: string): string | undefined {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
      return found === "ok" ? undefined : String(found);
    } finally {
      database.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** As it is at one moment, whoever writes meanwhile, and without what has been deleted. */
async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    const database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
    try {
      database.prepare("VACUUM INTO ?").run(to);
    } finally {
      database.close();
    }
  } catch (error) {
    throw toReadFailure(error, from);
  }
}

async function listData(
  dataDir: string,
): Promise<{ readonly databases: readonly string[]; readonly files: readonly string[] }> {
  const all = (await listFiles(dataDir)).filter((name) => !LEFT_OUT.test(basename(name)));
  const isDatabase = (name: string) => name.endsWith(".db") && basename(name) === name;
  return { databases: all.filter(isDatabase), files: all.filter((name) => !isDatabase(name)) };
}

async function measure(folder: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const names = (await listFiles(folder)).filter((name) => name !== MANIFEST);
  let bytes = 0;
  for (const name of names) bytes += (await stat(join(folder, name))).size;
  return { files: names.length, bytes };
}
