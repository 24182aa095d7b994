import { join } from "node:path";
import { BoundedMap } from "../../core/bounded-map.ts";
import { toArtifactFolder } from "../../ports/artifact-folder.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Outbound } from "../../ports/outbound.ts";
import type { AgentTool } from "../../ports/tools/agent-toolbox.ts";
import type { BuiltInTools } from "../../ports/tools/built-in-tools.ts";
import type { Sandbox, SandboxLimits } from "../sandbox/sandbox.ts";
import { createBash } from "./bash.ts";
import { FolderMirror } from "./folder-mirror.ts";
import { createRunFiles, writeGivenFiles } from "./run-files.ts";
import { createWebFetch } from "./web-fetch.ts";

export interface AgentToolsOptions {
  readonly outbound: Outbound;
  readonly webFetch: { readonly timeoutMs: number; readonly maxBytes: number };
  /** The files of a folder on this machine, out of which no link leads. */
  filesIn(folder: string): Promise<FileStorage>;
  /** Absolute, without links: where the folders of runs are on this machine. */
  readonly storageDir: string;
  /** Where artifacts are kept. Undefined: in `storageDir`. */
  readonly kept?: FileStorage | undefined;
  sandbox(): Promise<Sandbox>;
  readonly limits: SandboxLimits;
}

const MAX_MIRRORS = 1_000;

/** The tools that an agent has where it names them: `web_fetch`, `files`, `bash`. */
export function createAgentTools(options: AgentToolsOptions): BuiltInTools {
  const { outbound, webFetch, filesIn, storageDir, kept, sandbox, limits } = options;
  const locks = new FolderLocks();
  const mirrors = new BoundedMap<string, FolderMirror>(MAX_MIRRORS);
  const mirrorOf = (folder: string, files: FileStorage | undefined, stored: string) => {
    if (kept === undefined || files === undefined) return undefined;
    const mirror = mirrors.get(folder) ?? new FolderMirror(files, kept, stored);
    mirrors.set(folder, mirror);
    return mirror;
  };
  return {
    async offer({ names, runId, files: given }, signal) {
      const stored = `${toArtifactFolder(runId)}files/`;
      const folder = join(storageDir, stored);
      const isWanted = (name: string) => names.includes(name);
      const files = isWanted("files") || isWanted("bash") ? await filesIn(folder) : undefined;
      const mirror = mirrorOf(folder, files, stored);
      const locked = (tool: AgentTool): AgentTool => ({
        ...tool,
        call: (args, call, ended) =>
          locks.withLock(folder, async () => {
            const result = await tool.call(args, call, ended);
            await mirror?.keep(ended);
            return result;
          }),
      });
      await locks.withLock(folder, async () => mirror?.bring(signal));
      if (given !== undefined && files !== undefined) await writeGivenFiles(given, files);
      await locks.withLock(folder, async () => mirror?.keep(signal));
      const tools: AgentTool[] = [];
      if (isWanted("web_fetch")) tools.push(createWebFetch({ outbound, ...webFetch }));
      if (files !== undefined && isWanted("files")) tools.push(...createRunFiles(files).map(locked));
      if (isWanted("bash")) tools.push(locked(createBash({ sandbox, limits, folder })));
      return tools;
    },
  };
}

/** Calls for one folder run one at a time: a command could exchange a folder for a link between a check and a write. */
class FolderLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  async withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(folder) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.catch(() => undefined);
    this.#last.set(folder, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(folder) === settled) this.#last.delete(folder);
    }
  }
}
