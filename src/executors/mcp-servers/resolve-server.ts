import { resolve } from "node:path";
import { McpFailure } from "./mcp-failure.ts";
import type { Protocol, ServerEntry, ServerSettings } from "./server-entry.ts";

/** Where a server is, with everything filled in. It holds secrets: it is used, and never stored or shown. */
export interface ServerAddress {
  readonly name: string;
  readonly way: ProcessWay | HttpWay;
  readonly protocol: Protocol;
  /** What is never shown: values of variables, headers and settings whose names tell that they are secret. */
  readonly secrets: readonly string[];
}

export interface ProcessWay {
  readonly kind: "process";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface HttpWay {
  readonly kind: "http" | "sse";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Surroundings {
  /** The application: where servers run that do not say. */
  readonly folder: string;
  env(name: string): string | undefined;
}

/** Throws `MCP_SERVER_INVALID`, with the file and the server that it is about. */
export function resolveServer(name: string, entry: ServerEntry, around: Surroundings): ServerAddress {
  const problem = (flaw: string) =>
    new McpFailure("MCP_SERVER_INVALID", {
      message: `The MCP server "${name}" in ${entry.origin} cannot be used: ${flaw}.`,
      retryable: false,
      effect: "none",
    });
  if ("problem" in entry.settings) throw problem(entry.settings.problem);
  const texts = new Texts(around, problem);
  const way = resolveWay(entry.settings, { texts, folder: around.folder, problem });
  // The handshake is the safe choice for a process: some older ones end, or fall silent, at any other first message.
  const protocol = entry.settings.protocol ?? (way.kind === "http" ? "auto" : "legacy");
  return { name, way, protocol, secrets: texts.secrets };
}

interface Resolving {
  readonly texts: Texts;
  readonly folder: string;
  problem(flaw: string): McpFailure;
}

function resolveWay(settings: ServerSettings, { texts, folder, problem }: Resolving): ProcessWay | HttpWay {
  const { command, url, type } = settings;
  if (command === undefined && url === undefined) throw problem("it has neither `command` nor `url`");
  if (command !== undefined && url !== undefined) throw problem("it has both `command` and `url`");
  if (url !== undefined) {
    if (type === "stdio") throw problem("its type is `stdio`, which needs a `command`");
    return {
      kind: type === "sse" ? "sse" : "http",
      url: toUrl(texts.resolve(url, "url"), problem),
      headers: texts.map(settings.headers, "headers"),
    };
  }
  if (type !== undefined && type !== "stdio") throw problem(`its type is \`${type}\`, which needs a \`url\``);
  return {
    kind: "process",
    command: texts.resolve(command ?? "", "command"),
    args: (settings.args ?? []).map((arg) => texts.resolve(arg, "args")),
    env: texts.map(settings.env, "env"),
    cwd: resolve(folder, texts.resolve(settings.cwd ?? "", "cwd")),
  };
}

function toUrl(text: string, problem: (flaw: string) => McpFailure): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) throw problem("its `url` is no http or https URL");
  return url;
}

const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie/i;

/** Fills `${NAME}` in, and remembers what of it is secret. */
class Texts {
  readonly secrets: string[] = [];
  readonly #around: Surroundings;
  readonly #problem: (flaw: string) => McpFailure;

  constructor(around: Surroundings, problem: (flaw: string) => McpFailure) {
    this.#around = around;
    this.#problem = problem;
  }

  resolve(text: string, where: string): string {
    return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const value = this.#around.env(name) ?? fallback;
      if (value === undefined)
        throw this.#problem(`the environment variable ${name}, named in \`${where}\`, is not set`);
      if (SECRET_NAME.test(name)) this.secrets.push(value);
      return value;
    });
  }

  map(values: Readonly<Record<string, string>> | undefined, where: string): Record<string, string> {
    const resolved = Object.entries(values ?? {}).map(([key, text]) => {
      const value = this.resolve(text, `${where}.${key}`);
      // `Bearer abc` is a secret as a whole, and so is `abc`.
      if (SECRET_NAME.test(key)) this.secrets.push(value, value.slice(value.lastIndexOf(" ") + 1));
      return [key, value] as const;
    });
    return Object.fromEntries(resolved);
  }
}
