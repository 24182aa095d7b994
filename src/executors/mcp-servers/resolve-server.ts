import { statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Reach } from "../../core/trust/grant.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";
import { type McpFailure, refusal } from "./mcp-failure.ts";
import type { OAuthSettings, Protocol, ServerEntry, ServerRoot, ServerSettings } from "./server-entry.ts";

/** The resolved address of a server. It holds secrets, so it is never stored or shown. */
export interface ServerAddress {
  readonly name: string;
  /** The file that configures it, for messages. */
  readonly origin: string;
  readonly way: ProcessWay | HttpWay;
  readonly protocol: Protocol;
  /** Folders and other places that the server is told of when it asks. */
  readonly roots: readonly ResolvedRoot[];
  readonly elicitation: "ask" | "refuse";
  /** Absent: no model is asked for it. */
  readonly sampling: ServerSettings["sampling"];
  /** Absent: the application's. */
  readonly connectTimeoutMs?: number;
  /** Whose it is: tenants share no server that they have named, however alike. */
  readonly tenantId?: string | undefined;
  /** Values of variables, headers and settings with secret names. They are masked everywhere. */
  readonly secrets: readonly string[];
}

export interface ProcessWay extends Program {
  readonly kind: "process";
  readonly cwd: string;
  /** A file that has to be there. */
  readonly script?: string;
  /** It runs in the sandbox, which shows it this folder, or none. */
  readonly confinedTo?: string | null | undefined;
  /** Addresses that it reaches from there beside the public ones. */
  readonly reach?: Reach | undefined;
}

export interface HttpWay {
  readonly kind: "http" | "sse";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly reach: Reach;
  /** Who we are to the issuer of its tokens, as far as that is given. */
  readonly oauth?: OAuthSettings | undefined;
}

interface ResolvedRoot {
  readonly uri: string;
  readonly name?: string;
}

export interface Surroundings {
  /** The application: where servers run that do not say. */
  readonly folder: string;
  /** An interpreter, or the folder of a venv, for servers in Python whose entries name no venv. */
  readonly python?: string | undefined;
  env(name: string): string | undefined;
  /** Addresses that entries may name beside the public ones. Absent: all, since the operator wrote them. */
  readonly reach?: Reach | undefined;
  /** Absent: the application itself. */
  readonly tenantId?: string | undefined;
  /** Servers that are programs run in the sandbox, and see this folder, or none. Absent: they run as we do. */
  readonly confinedTo?: string | null | undefined;
}

/** Throws `MCP_SERVER_INVALID`, with the file and the server that it is about. */
export function resolveServer(name: string, entry: ServerEntry, around: Surroundings): ServerAddress {
  const problem = (flaw: string) =>
    refusal("MCP_SERVER_INVALID", `The MCP server "${name}" in ${entry.origin} cannot be used: ${flaw}.`);
  if ("problem" in entry.settings) throw problem(entry.settings.problem);
  const { settings } = entry;
  const texts = new TextResolver(around.env, problem);
  const resolving = { texts, around, problem };
  const way = resolveWay(settings, resolving);
  // The handshake is the safe choice for a process: some older ones end, or fall silent, at any other first message.
  const protocol = settings.protocol ?? (way.kind === "http" ? "auto" : "legacy");
  const roots = (settings.roots ?? []).map((root) => resolveRoot(root, resolving));
  return {
    name,
    origin: entry.origin,
    way,
    protocol,
    roots,
    elicitation: settings.elicitation ?? "ask",
    sampling: settings.sampling,
    connectTimeoutMs: settings.timeout_ms,
    tenantId: around.tenantId,
    secrets: texts.secrets,
  };
}

interface Resolving {
  readonly texts: TextResolver;
  readonly around: Surroundings;
  problem(flaw: string): McpFailure;
}

const WAYS = ["command", "server_path", "url"] as const;

function resolveWay(settings: ServerSettings, resolving: Resolving): ProcessWay | HttpWay {
  const { texts, problem } = resolving;
  const { type, url } = settings;
  const given = WAYS.filter((key) => settings[key] !== undefined);
  if (given.length === 0) throw problem("it has neither `command` nor `url`");
  if (given.length > 1) throw problem(`it has both ${given.map((key) => `\`${key}\``).join(" and ")}`);
  if (url !== undefined) {
    if (type === "stdio") throw problem("its type is `stdio`, which needs a `command`");
    return {
      kind: type === "sse" ? "sse" : "http",
      url: toUrl(texts.resolve(url, "url"), resolving),
      headers: texts.map(settings.headers, "headers"),
      reach: resolving.around.reach ?? "anywhere",
      oauth: settings.oauth && texts.map({ ...settings.oauth }, "oauth"),
    };
  }
  if (type !== undefined && type !== "stdio") throw problem(`its type is \`${type}\`, which needs a \`url\``);
  return resolveProcess(settings, resolving);
}

function resolveProcess(settings: ServerSettings, { texts, around }: Resolving): ProcessWay {
  const args = (settings.args ?? []).map((arg) => texts.resolve(arg, "args"));
  const env = texts.map(settings.env, "env");
  const cwd = resolve(around.folder, texts.resolve(settings.cwd ?? "", "cwd"));
  const { confinedTo, reach } = around;
  const { server_path: path, command, venv } = settings;
  if (path === undefined)
    return {
      kind: "process",
      command: texts.resolve(command ?? "", "command"),
      args,
      env,
      cwd,
      confinedTo,
      reach,
      firstOnPath: [],
    };
  const script = resolve(around.folder, texts.resolve(path, "server_path"));
  const python = venv === undefined ? around.python : resolve(around.folder, texts.resolve(venv, "venv"));
  const program = toProgram(script, python);
  const all = { args: [...program.args, ...args], env: { ...program.env, ...env } };
  return { ...program, ...all, kind: "process", cwd, confinedTo, reach, script };
}

function toUrl(text: string, { texts, problem }: Resolving): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) throw problem("its `url` is no http or https URL");
  const given = [...url.searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  texts.secrets.push(url.password, ...given);
  return url;
}

/** A text without a scheme is a folder. */
function resolveRoot(root: ServerRoot, { texts, around }: Resolving): ResolvedRoot {
  const { uri, name } = typeof root === "string" ? { uri: root } : root;
  const text = texts.resolve(uri, "roots");
  const resolved = /^[a-z][a-z0-9+.-]+:/i.test(text) ? text : pathToFileURL(resolve(around.folder, text)).href;
  return { uri: resolved, name };
}

/** Fills `${NAME}` in, and remembers what of it is secret. */
class TextResolver {
  readonly secrets: string[] = [];
  readonly #env: (name: string) => string | undefined;
  readonly #problem: (flaw: string) => McpFailure;

  constructor(env: (name: string) => string | undefined, problem: (flaw: string) => McpFailure) {
    this.#env = env;
    this.#problem = problem;
  }

  resolve(text: string, where: string): string {
    return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const value = this.#env(name) ?? fallback;
      if (value === undefined)
        throw this.#problem(`the environment variable ${name}, named in \`${where}\`, is not set`);
      if (SECRET_NAME.test(name)) this.secrets.push(value);
      return value;
    });
  }

  map(values: Readonly<Record<string, string | undefined>> | undefined, where: string): Record<string, string> {
    const resolved = Object.entries(values ?? {}).flatMap(([key, text]) => {
      if (text === undefined) return [];
      const value = this.resolve(text, `${where}.${key}`);
      // `Bearer abc` is a secret as a whole, and so is `abc`.
      if (SECRET_NAME.test(key)) this.secrets.push(value, value.slice(value.lastIndexOf(" ") + 1));
      return [[key, value] as const];
    });
    return Object.fromEntries(resolved);
  }
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders that go before all others on its PATH. */
  readonly firstOnPath: readonly string[];
}

/** Chooses the program by the file's extension: Python with `python` (an interpreter or a venv), JavaScript with our Node, shell scripts with bash. */
function toProgram(path: string, python: string | undefined): Program {
  switch (extname(path).toLowerCase()) {
    case ".py":
      return runPython(path, python);
    case ".js":
    case ".mjs":
    case ".cjs":
      return { ...PLAIN, command: process.execPath, args: [path] };
    case ".ts":
    case ".mts":
    case ".cts":
      return { ...PLAIN, command: process.execPath, args: [...typesAreStripped(), path] };
    case ".sh":
      return { ...PLAIN, command: "bash", args: [path] };
    default:
      return { ...PLAIN, command: path, args: [] };
  }
}

const PLAIN = { env: {}, firstOnPath: [] } as const;

/** Output must not be buffered: it is all that a failure can show. */
const PYTHON_ENV = { PYTHONUNBUFFERED: "1" } as const;

function runPython(path: string, python: string | undefined): Program {
  const isWindows = process.platform === "win32";
  if (python === undefined)
    return { command: isWindows ? "python" : "python3", args: [path], env: PYTHON_ENV, firstOnPath: [] };
  if (!isFolder(python)) return { command: python, args: [path], env: PYTHON_ENV, firstOnPath: [] };
  const command = isWindows ? join(python, "Scripts", "python.exe") : join(python, "bin", "python");
  return { command, args: [path], env: { ...PYTHON_ENV, VIRTUAL_ENV: python }, firstOnPath: [dirname(command)] };
}

/** A missing path counts as a venv, so that the message names the interpreter that is missing in it. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? !/python[\d.]*(\.exe)?$/i.test(path);
}

/** Node 22 asks for it. */
function typesAreStripped(): readonly string[] {
  return process.features.typescript === false ? ["--experimental-strip-types"] : [];
}
