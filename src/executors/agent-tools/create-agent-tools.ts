import { join } from "node:path";
import { toArtifactFolder } from "../../ports/artifact-folder.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Outbound } from "../../ports/outbound.ts";
import type { AgentTool } from "../../ports/tools/agent-toolbox.ts";
import type { BuiltInTools } from "../../ports/tools/built-in-tools.ts";
import type { Sandbox, SandboxLimits } from "../sandbox/sandbox.ts";
import { createBash } from "./bash.ts";
import { createRunFiles, writeGivenFiles } from "./run-files.ts";
import { createWebFetch } from "./web-fetch.ts";

export interface AgentToolsOptions {
  readonly outbound: Outbound;
  readonly webFetch: { readonly timeoutMs: number; readonly maxBytes: number };
  /** The files of a folder on this machine, out of which no link leads. */
  filesIn(folder: string): Promise<FileStorage>;
  /** Absolute, without links: where artifacts are stored on this machine. */
  readonly storageDir: string;
  sandbox(): Promise<Sandbox>;
  readonly limits: SandboxLimits;
}

/** The tools that an agent has where it names them: `web_fetch`, `files`, `bash`. */
export function createAgentTools(options: AgentToolsOptions): BuiltInTools {
  const { outbound, webFetch, filesIn, storageDir, sandbox, limits } = options;
  const locks = new FolderLocks();
  const locked = (folder: string, tool: AgentTool): AgentTool => ({
    ...tool,
    call: (args, call, signal) => locks.withLock(folder, () => tool.call(args, call, signal)),
  });
  return {
    async offer({ names, runId, files: given }) {
      const folder = join(storageDir, toArtifactFolder(runId), "files");
      const isWanted = (name: string) => names.includes(name);
      const files = isWanted("files") || isWanted("bash") ? await filesIn(folder) : undefined;
      if (given !== undefined && files !== undefined) await writeGivenFiles(given, files);
      const tools: AgentTool[] = [];
      if (isWanted("web_fetch")) tools.push(createWebFetch({ outbound, ...webFetch }));
      if (files !== undefined && isWanted("files"))
        tools.push(...createRunFiles(files).map((tool) => locked(folder, tool)));
      if (isWanted("bash")) tools.push(locked(folder, createBash({ sandbox, limits, folder })));
      return tools;
    },
  };
}

/**
 * One tool at a time in a folder: a command could exchange a folder for a link in the moment between the look at it and
 * the write through it.
 */
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
