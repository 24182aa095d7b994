import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Owner } from "../../operations/application/ports.ts";
import { type AcquiredLock, acquireOwnerLock, type OwnerInfo } from "../../storage/sqlite/owner-lock.ts";
import type { Ownership } from "./open-ownership.ts";
import type { OwnerClient } from "./owner-client.ts";
import { makePrivateSocketPath, makeSocketPath, type SocketPath } from "./socket-path.ts";

/** How this process takes part: it drives the runs, or it talks to the one that does. */
export type Connection =
  | (Address & { readonly role: "owner"; readonly host: Ownership["host"]; readonly ownership: Ownership })
  | (Address & { readonly role: "guest"; readonly host: OwnerClient; readonly url: string | undefined });

interface Address {
  readonly ownerPid: number;
  readonly ownerSocket: string;
}

export interface ConnectOptions {
  readonly dataDir: string;
  /** Opens everything that an owner needs. The lock is released where it throws. */
  own(lock: AcquiredLock, socketPath: string): Promise<Ownership>;
}

/** How long an owner may take to start or to leave before it counts as unreachable. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 40;

/** Becomes the owner where there is none, else connects to the owner. Throws `OWNER_UNREACHABLE` with its process id. */
export async function connectToData({ dataDir, own }: ConnectOptions): Promise<Connection> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const socket = makeSocketPath(dataDir);
    const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: hostname(), socket: socket.path });
    if (lock.acquired) return becomeOwner(lock, socket, own);
    if (lock.heldBy?.socket !== socket.path) socket.remove();
    const host = lock.heldBy && (await connectToOwner(lock.heldBy));
    if (host !== undefined) return host;
    if (Date.now() > giveUpAt) throw unreachable(dataDir, lock.heldBy);
    // Two that ask at the same moment turn each other away: the next time not at the same moment.
    await setTimeout(RETRY_MS * (1 + Math.random()));
  }
}

/** Of a database there are many owners: each process drives runs of its own. */
export async function connectToDatabase(own: (socket: SocketPath) => Promise<Ownership>): Promise<Connection> {
  const socket = makePrivateSocketPath();
  try {
    const ownership = await own(socket);
    return { role: "owner", ownerPid: process.pid, ownerSocket: socket.path, host: ownership.host, ownership };
  } catch (error) {
    socket.remove();
    throw error;
  }
}

/** Undefined: the data directory has no owner, or its owner does not answer yet. */
export async function connectToPresent(dataDir: string): Promise<Connection | undefined> {
  if (!existsSync(dataDir)) return undefined;
  const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: hostname(), socket: "" });
  if (!lock.acquired) return lock.heldBy && (await connectToOwner(lock.heldBy));
  lock.release();
  return undefined;
}

/** Undefined: no process listens there, yet or any more. */
export async function connectToOwner({ pid, socket, url }: Omit<OwnerInfo, "host">): Promise<Connection | undefined> {
  const { OwnerClient } = await import("./owner-client.ts");
  try {
    const host = await OwnerClient.connect(socket);
    return { role: "guest", ownerPid: pid, ownerSocket: socket, host, url };
  } catch {
    return undefined;
  }
}

async function becomeOwner(
  lock: AcquiredLock,
  socket: ReturnType<typeof makeSocketPath>,
  own: ConnectOptions["own"],
): Promise<Connection> {
  const releasing: AcquiredLock = {
    ...lock,
    release: () => {
      socket.remove();
      lock.release();
    },
  };
  try {
    const ownership = await own(releasing, socket.path);
    return { role: "owner", ownerPid: process.pid, ownerSocket: socket.path, host: ownership.host, ownership };
  } catch (error) {
    releasing.release();
    throw error;
  }
}

function unreachable(dataDir: string, owner: OwnerInfo | undefined): PawlError {
  const who = owner === undefined ? "a process that does not say who it is" : `process ${owner.pid} on ${owner.host}`;
  return new PawlError("OWNER_UNREACHABLE", {
    message: `${dataDir} is owned by ${who}, which does not answer.`,
    ...(owner === undefined ? {} : { details: { pid: owner.pid, host: owner.host } }),
  });
}

/** Finds the owner of a data directory that this process has not opened. Only the lock itself tells: `lock.json` may be stale. */
export async function lookForOwner(dataDir: string): Promise<Owner> {
  if (!existsSync(dataDir)) return { state: "free" };
  const { acquireOwnerLock } = await import("../../storage/sqlite/owner-lock.ts");
  const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: hostname(), socket: "" });
  if (!lock.acquired) return { state: "held", ...lock.heldBy };
  lock.release();
  return { state: "free" };
}
