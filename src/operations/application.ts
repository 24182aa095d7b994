import type { Config } from "../config/load-config.ts";
import type { FindExecutor } from "../hosts/executors.ts";
import type { RunHost } from "../hosts/run-host.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import type { Journal } from "../ports/journal.ts";

/** What operations work with. Whatever costs time to open is behind a method and opened when first asked for. */
export interface Application {
  /** Absolute. Registered workflows, `pawl.yaml` and `.env` are here. */
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  readonly clock: Clock;
  /** Who does the work of a step, by the options that its run is started with. */
  readonly findExecutor: FindExecutor;
  /** Takes configured secrets out of a text. */
  mask(text: string): string;
  /** The record of all runs, for reading: beside the owner, as the owner, or where there has never been one. */
  records(): Promise<Records>;
  files(): Promise<FileStorage>;
  /** Becomes the owner of the data directory where nobody is, and goes through the owner otherwise. */
  host(): Promise<AppHost>;
  /** Goes through the owner, and starts one in the background where nobody is. */
  backgroundHost(): Promise<AppHost>;
  /** Who owns the data directory now. */
  findOwner(): Promise<Owner>;
  /** How the configured agent server is. Undefined: none is configured. */
  checkAgentServer(): Promise<{ readonly ok: boolean; readonly detail: string } | undefined>;
}

/** An application with the way out that whoever opened it has to take. */
export interface OpenApplication extends Application {
  /** Stays while runs are under way here, then lays down what is left and gives the data directory back. */
  leave(stop: AbortSignal, force: AbortSignal): Promise<void>;
  /** As the owner, stays until nobody has needed it for some seconds. */
  serve(stop: AbortSignal): Promise<void>;
  /** Lays every run down now. */
  /** The run named `hold` stays down until somebody resumes it. */
  park(force: AbortSignal, hold?: string): Promise<void>;
  /** Closes what is open without waiting for anything: what is not durable by now never happened. */
  close(): Promise<void>;
}

export interface Records {
  readonly journal: Journal;
  readonly blobs: Blobs;
}

/** A host that lasts longer than one owner: what it waits for goes on with the next one, which may be this process. */
export interface AppHost extends RunHost {
  readonly role: "owner" | "guest";
  /** Process id of the owner. */
  readonly ownerPid: number;
  /** Where the owner listens. */
  readonly ownerSocket: string;
}

export type Owner =
  | { readonly state: "free" }
  | { readonly state: "held"; readonly pid?: number; readonly host?: string; readonly url?: string };
