import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { toFileFailure } from "../../storage/files/durable-write.ts";
import { makeFolder } from "../../storage/make-folder.ts";
import { type Connection, connectToOwner } from "./connect.ts";

export interface BackgroundOptions {
  readonly program: readonly string[];
  readonly appDir: string;
  readonly dataDir: string;
}

/** Starts a process that owns the data directory and outlives this one. It writes `owner.log`. An owner that is there already is returned. */
export async function startBackgroundOwner({ program, appDir, dataDir }: BackgroundOptions): Promise<Connection> {
  const [command = process.execPath, ...args] = program;
  const logFile = join(dataDir, "owner.log");
  makeFolder(dataDir);
  const log = openLog(logFile);
  const child = spawn(command, [...args, "own", "--app", appDir, "--data", dataDir], {
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  const owner = await new Promise<OwnerAddress | undefined>((resolve) => {
    child.once("message", (message: Json) => resolve(toAddress(message)));
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
  });
  child.unref();
  if (child.connected) child.disconnect();
  const connection = owner && (await connectToOwner(owner));
  if (connection !== undefined) return connection;
  throw new PawlError("OWNER_UNREACHABLE", {
    message: "The background process could not take over the data directory.",
    remedy: `See ${logFile}.`,
  });
}

function openLog(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw toFileFailure(error, path);
  }
}

interface OwnerAddress {
  readonly pid: number;
  readonly socket: string;
}

function toAddress(message: Json): OwnerAddress | undefined {
  if (!isJsonObject(message)) return undefined;
  const { pid, socket } = message;
  return typeof pid === "number" && typeof socket === "string" ? { pid, socket } : undefined;
}
