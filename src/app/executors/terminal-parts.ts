import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { KnownSecrets } from "../../config/known-secrets.ts";
import type { Config } from "../../config/load-config.ts";
import type { LoadedTerminalOptions } from "../../config/load-terminal-options.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StandingProgram } from "../../executors/sandbox/sandbox.ts";
import type { SessionRecordings } from "../../executors/terminal/recording/session-recordings.ts";
import type { PtyHolder } from "../../executors/terminal/session/pty.ts";
import type { ConfinedProgram, TerminalSurroundings } from "../../executors/terminal/terminal-options.ts";
import type { TerminalSessions } from "../../executors/terminal/terminal-sessions.ts";
import type { Executor } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { TerminalCall } from "../../ports/terminals/terminal-tools.ts";
import type { LiveTerminals } from "../../ports/terminals/terminal-views.ts";
import type { LibraryEditor, WorkflowLibrary } from "../../ports/terminals/workflow-library.ts";
import type { TerminalView } from "./serve-terminal-view.ts";

interface TerminalPartsOptions {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly secrets: KnownSecrets;
  /** Puts the program of a terminal into the sandbox. */
  confine(program: ConfinedProgram, writable: readonly string[]): Promise<StandingProgram>;
  files(): Promise<FileStorage>;
  /** Lets people watch in a browser. */
  serveView(web: LoadedTerminalOptions["web"]): Promise<TerminalView | undefined>;
  /** For a person: what is wrong with files of the library. */
  tell(line: string): void;
}

/** The terminals of this process, which only an owner opens, and the library of workflows over them. */
export class TerminalParts {
  readonly #options: TerminalPartsOptions;
  readonly #opened = new Set<string>();
  readonly #told = new Set<string>();
  #sessions: Promise<TerminalSessions> | undefined;
  #recordings: Promise<SessionRecordings> | undefined;
  #live: TerminalSessions | undefined;
  #left: Promise<TerminalSessions> | undefined;
  #executor: Promise<Executor> | undefined;
  #library: Promise<WorkflowLibrary> | undefined;
  #view: TerminalView | undefined;

  constructor(options: TerminalPartsOptions) {
    this.#options = options;
  }

  /** Does the states of terminal workflows. */
  executor(): Promise<Executor> {
    this.#executor ??= this.#createExecutor();
    return this.#executor;
  }

  /** Throws `REQUEST_INVALID`, `TERMINAL_REFUSED`, `CONFIG_INVALID`. */
  async call({ tool, request, ...caller }: TerminalCall, signal: AbortSignal): Promise<JsonObject> {
    const { readRequest } = await import("../../ports/terminals/terminal-tools.ts");
    const read = readRequest(tool, request);
    if ("problem" in read)
      throw new PawlError("REQUEST_INVALID", {
        message: read.problem,
        remedy: `Call \`${tool}\` again with the parameters that its schema names.`,
      });
    return (await this.sessions()).call(read.tool, read.input, { ...caller, signal });
  }

  sessions(): Promise<TerminalSessions> {
    this.#sessions ??= this.#openSessions();
    return this.#sessions;
  }

  /** For people who look at them, and type. */
  async views(): Promise<LiveTerminals> {
    return (await this.sessions()).views;
  }

  /** While the data has no owner: terminals that have outlived their owner. They are neither recorded nor shown in browsers. */
  async left(): Promise<LiveTerminals | undefined> {
    const options = await this.#loadOptions();
    if (options.backend !== "tmux") return undefined;
    this.#left ??= this.#createSessions(options, {});
    const sessions = await this.#left;
    await sessions.takeUp();
    return sessions.views;
  }

  library(): Promise<WorkflowLibrary> {
    this.#library ??= this.#createLibrary();
    return this.#library;
  }

  async libraryEditor(): Promise<LibraryEditor> {
    const { TerminalLibraryEditor } = await import("../../storage/files/terminal-library-editor.ts");
    return new TerminalLibraryEditor({ dir: this.#libraryDir });
  }

  get running(): number {
    for (const id of this.#opened) if (this.#live?.find(id) === undefined) this.#opened.delete(id);
    return [...this.#opened].filter((id) => this.#live?.find(id)?.isRunning === true).length;
  }

  /** The new owner of the data turns recordings of a killed process into artifacts. */
  async keepLeftRecordings(): Promise<void> {
    if (existsSync(this.#recordingsDir)) await this.#openRecordings();
  }

  /** While the data still belong to this process. */
  async finishRecordings(): Promise<void> {
    await (await this.#recordings?.catch(() => undefined))?.close();
  }

  /** No process of a terminal is left after this, unless terminals outlive this one. */
  async close(): Promise<void> {
    const sessions = await this.#sessions?.catch(() => undefined);
    await this.#view?.close();
    await sessions?.close();
    await (await this.#left?.catch(() => undefined))?.close();
  }

  get #libraryDir(): string {
    return join(this.#options.appDir, ".terminal_control_workflows");
  }

  get #recordingsDir(): string {
    return join(this.#options.dataDir, "recordings");
  }

  async #createExecutor(): Promise<Executor> {
    const [{ createTerminalExecutor }, sessions, recordings] = await Promise.all([
      import("../../executors/terminal/terminal-executor.ts"),
      this.sessions(),
      this.#openRecordings(),
    ]);
    return createTerminalExecutor(sessions, recordings);
  }

  #openRecordings(): Promise<SessionRecordings> {
    this.#recordings ??= this.#createRecordings();
    return this.#recordings;
  }

  async #createRecordings(): Promise<SessionRecordings> {
    const { secrets, files, tell } = this.#options;
    const [{ SessionRecordings }, options] = await Promise.all([
      import("../../executors/terminal/recording/session-recordings.ts"),
      this.#loadOptions(),
    ]);
    const recordings = new SessionRecordings({
      dir: this.#recordingsDir,
      files,
      secrets: () => secrets.snapshot(),
      maxBytes: options.recordMaxBytes,
      recordsRuns: options.record,
      recordsSessions: options.recordSessions,
      tell,
    });
    // Before the first one of this process: until then everything there is left over.
    await recordings.keepLeft();
    return recordings;
  }

  async #tmux({ scrollbackRows }: LoadedTerminalOptions): Promise<PtyHolder> {
    const [{ openTmux }, { privateSocketFolder }] = await Promise.all([
      import("../../executors/terminal/tmux/tmux-holder.ts"),
      import("../owner/socket-path.ts"),
    ]);
    const { dataDir, environment } = this.#options;
    return openTmux(environment["PATH"] ?? "", { dir: privateSocketFolder(dataDir), scrollbackRows });
  }

  async #loadOptions(): Promise<LoadedTerminalOptions> {
    const { appDir, config } = this.#options;
    const { loadTerminalOptions } = await import("../../config/load-terminal-options.ts");
    // The application, not this process's folder: the next owner of the data must find the same terminals allowed.
    return loadTerminalOptions({ settings: config.settings, currentDir: appDir, homeDir: homedir() });
  }

  async #openSessions(): Promise<TerminalSessions> {
    const [options, recordings] = await Promise.all([this.#loadOptions(), this.#openRecordings()]);
    const sessions = await this.#createSessions(options, {
      opened: (session) => {
        this.#opened.add(session.facts.id);
        recordings.opened(session);
      },
      toWebUrl: (id) => this.#view?.toWebUrl(id) ?? null,
    });
    this.#live = sessions;
    if (options.web.enabled) this.#view = await this.#options.serveView(options.web);
    // Now that it is known where each can be watched.
    await sessions.takeUp();
    return sessions;
  }

  async #createSessions(
    options: LoadedTerminalOptions,
    whoWatches: Pick<TerminalSurroundings, "opened" | "toWebUrl">,
  ): Promise<TerminalSessions> {
    const { appDir, environment, secrets, confine } = this.#options;
    const { createTerminalSessions } = await import("../../executors/terminal/terminal-sessions.ts");
    return createTerminalSessions(options, {
      environment,
      currentDir: appDir,
      homeDir: homedir(),
      temporaryDir: tmpdir(),
      mask: secrets.mask,
      // Held by nothing: masked for as long as the secrets of ended runs are.
      learn: (typed) => secrets.learn(typed)(),
      confine: (program) => confine(program, options.sandboxFolders),
      ...whoWatches,
      ...(options.backend === "tmux" ? { holder: await this.#tmux(options) } : {}),
    });
  }

  async #createLibrary(): Promise<WorkflowLibrary> {
    const { TerminalLibrary } = await import("../../storage/files/terminal-library.ts");
    const { tell } = this.#options;
    return new TerminalLibrary({
      dir: this.#libraryDir,
      reportDamage: ({ file, reason }) => {
        if (this.#told.has(file)) return;
        this.#told.add(file);
        tell(`${file} is left alone: ${reason}`);
      },
    });
  }
}
