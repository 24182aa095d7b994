import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { CommonOptions } from "../cli-context.ts";

export interface ChosenServer {
  readonly url: string;
  readonly apiKey?: string;
  /** Whether the command line itself names it. */
  readonly isAsked: boolean;
}

/**
 * The server that a command is meant for: `--url`, else PAWL_URL (or SANDCASTLE_URL) unless the command line names an
 * application or data of this machine. Undefined: this machine.
 */
export function chooseServer(options: CommonOptions, environment: NodeJS.ProcessEnv): ChosenServer | undefined {
  const isLocal = options.data !== undefined || options.app !== ".";
  if (options.url !== undefined && isLocal)
    throw new PawlError("USAGE", {
      message: "`--url` names a server, `--app` and `--data` folders of this machine.",
      remedy: "Leave one of them out.",
    });
  const written = options.url ?? (isLocal ? undefined : setIn(environment, "PAWL_URL", "SANDCASTLE_URL"));
  if (written === undefined) return undefined;
  const apiKey = options.apiKey ?? setIn(environment, "PAWL_API_KEY", "SANDCASTLE_API_KEY");
  return { url: checkUrl(written), isAsked: options.url !== undefined, apiKey };
}

/** An empty variable is none. */
function setIn(environment: NodeJS.ProcessEnv, ...names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== "");
}

function checkUrl(written: string): string {
  const url = URL.parse(written.includes("://") ? written : `http://${written}`);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "";
  if (isPlain) return url.href.replace(/\/+$/, "");
  throw new PawlError("USAGE", {
    message: `"${written.replace(/\/\/[^/]*@/, "//...@")}" is not the address of a server.`,
    remedy: "Write --url http://127.0.0.1:8080, and a key with --api-key or in PAWL_API_KEY.",
  });
}
