import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { writeExact } from "../../core/exact-json.ts";
import { namesIn } from "./kernel/processes.ts";
import type { SandboxSpec, Visible } from "./sandbox.ts";

/** A program that has been started and waits for its input. */
export interface ReadyProgram {
  isWaiting(): boolean;
  /** Ends it unused. */
  end(): void;
}

export interface ReadyOptions<T> {
  /** How many wait at most, of all programs together. 0: none. */
  readonly max: number;
  start(spec: SandboxSpec): Promise<T | undefined>;
}

/** How many of one program wait: after its first call, and once it was called again within a short time. */
const WANTED = 1;
const WANTED_OFTEN = 8;
const OFTEN_MS = 5_000;
/** After a call that may stay the only one, so that a start does not take its processor. */
const PAUSE_MS = 100;
/** Below this no more are started. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
const MAX_AGE_MS = 120_000;

interface Shelf<T> {
  readonly spec: SandboxSpec;
  readonly waiting: { readonly program: T; readonly since: number }[];
  wanted: number;
  usedAt: number;
}

/** Programs that are started ahead of their next call. Each serves one call. Those that are unused for two minutes are ended. */
export class ReadyPrograms<T extends ReadyProgram> {
  readonly #options: ReadyOptions<T>;
  readonly #shelves = new Map<string, Shelf<T>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReadyOptions<T>) {
    this.#options = options;
  }

  /** One that was started exactly so. `used` has the next one started. */
  take(key: string): T | undefined {
    const waiting = this.#shelves.get(key)?.waiting ?? [];
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      if (first.program.isWaiting()) return first.program;
      first.program.end();
    }
    return undefined;
  }

  used(key: string, spec: SandboxSpec): void {
    if (this.#options.max === 0 || this.#isClosed) return;
    const now = performance.now();
    const shelf = this.#shelves.get(key) ?? { spec, waiting: [], wanted: 0, usedAt: now };
    shelf.wanted = shelf.wanted === 0 || now - shelf.usedAt > OFTEN_MS ? WANTED : WANTED_OFTEN;
    shelf.usedAt = now;
    // The map's order is that of use.
    this.#shelves.delete(key);
    this.#shelves.set(key, shelf);
    // In a loop the next call comes as soon as this one is done.
    this.#fillAfter(shelf.wanted === WANTED_OFTEN ? 0 : PAUSE_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const key of this.#shelves.keys()) this.#clear(key);
  }

  #fillAfter(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fill().catch(() => undefined), delayMs).unref();
  }

  /** One at a time, so that calls get their turn between two starts. */
  async #fill(): Promise<void> {
    const now = performance.now();
    for (const [key, shelf] of this.#shelves) {
      while ((shelf.waiting[0]?.since ?? now) < now - MAX_AGE_MS) shelf.waiting.shift()?.program.end();
      if (shelf.usedAt < now - MAX_AGE_MS) this.#clear(key);
    }
    const [key, shelf] = [...this.#shelves].reverse().find(([, { waiting, wanted }]) => waiting.length < wanted) ?? [];
    if (key === undefined || shelf === undefined)
      return this.#shelves.size === 0 ? undefined : this.#fillAfter(MAX_AGE_MS / 4);
    if (toKey(shelf.spec) !== key) this.#clear(key);
    else if (this.#makeRoom(key)) await this.#add(shelf);
    else return this.#fillAfter(MAX_AGE_MS / 4);
    if (!this.#isClosed) this.#fillAfter(0);
  }

  async #add(shelf: Shelf<T>): Promise<void> {
    const program = await this.#options.start(shelf.spec);
    if (program === undefined) shelf.wanted = 0;
    else if (this.#isClosed) program.end();
    else shelf.waiting.push({ program, since: performance.now() });
  }

  /** The program that was used longest ago gives its place to one that is used now. */
  #makeRoom(key: string): boolean {
    if (freemem() < MIN_FREE_BYTES) return false;
    const all = [...this.#shelves];
    if (all.reduce((sum, [, { waiting }]) => sum + waiting.length, 0) < this.#options.max) return true;
    const [oldest] = all.find(([, { waiting }]) => waiting.length > 0) ?? [];
    if (oldest === undefined || oldest === key) return false;
    this.#shelves.get(oldest)?.waiting.shift()?.program.end();
    return true;
  }

  #clear(key: string): void {
    for (const { program } of this.#shelves.get(key)?.waiting ?? []) program.end();
    this.#shelves.delete(key);
  }
}

/** The key of everything that a program starts with, including the identity of files: a sandbox goes on showing a file that was replaced. */
export function toKey({ limits: { timeoutMs: _, ...started }, ...spec }: SandboxSpec): string {
  const { command, args, env, cwd, visible = [], network, reach, hasResultChannel } = spec;
  const what = [command, args, env, cwd, network, reach, hasResultChannel, started, visible, visible.map(identityOf)];
  return createHash("sha256").update(writeExact(what)).digest("base64");
}

function identityOf(what: Visible): readonly string[] {
  if (what.kind === "text") return [];
  if (what.kind !== "entries") return [fileOf(what.path)];
  return [
    fileOf(what.path),
    ...namesIn(what.path)
      .sort()
      .map((name) => `${name} ${fileOf(join(what.path, name))}`),
  ];
}

function fileOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev} ${found.ino} ${found.mode}`;
}
