import { BoundedMap } from "../../core/bounded-map.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Grant } from "../../core/trust/grant.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { Ports } from "../application/ports.ts";
import type { TextOrigin } from "../definitions/compile/report-on-text.ts";
import { compileText } from "../definitions/compile-text.ts";

/** The place of a definition outside of the application's folder. */
export interface Remote {
  readonly endpoint: string;
  readonly appId: string;
  readonly requestId: string;
  readonly traceId?: string;
}

interface Fetched {
  readonly text: string;
  /** The files that its steps name, as they were when the definition was compiled. */
  readonly files: ReadonlyMap<string, string>;
  readonly definition: CompiledDefinition;
}

const MAX_KEPT = 200;

/** Definitions behind MCP endpoints. Asked for with every request, compiled only where something has changed. */
export class FetchedDefinitions {
  readonly #app: Pick<Ports, "fetchDefinitionFile" | "config">;
  readonly #kept = new BoundedMap<string, Fetched>(MAX_KEPT);

  constructor(app: Pick<Ports, "fetchDefinitionFile" | "config">) {
    this.#app = app;
  }

  /** Throws `ENDPOINT_NOT_ALLOWED`, `ENDPOINT_FAILED`, `DEFINITION_INVALID`. */
  async find(remote: Remote, path: string, grant: Grant): Promise<CompiledDefinition> {
    const read = (file: string) => this.read(remote, file);
    const key = writeExact([remote.endpoint, remote.appId, path, grant]);
    const text = await read(path);
    const known = this.#kept.get(key);
    if (known?.text === text && (await isSame(known.files, read))) return known.definition;
    const fetched = await compileFetched(text, {
      path,
      read,
      grant,
      maxSteps: this.#app.config.settings.uhlp.max_steps,
    });
    this.#kept.set(key, fetched);
    return fetched.definition;
  }

  read({ endpoint, appId, requestId, traceId }: Remote, path: string): Promise<string> {
    const ids = { requestId, traceId };
    return this.#app.fetchDefinitionFile({ endpoint, appId, path, ...ids });
  }
}

interface Fetching extends Pick<TextOrigin, "grant"> {
  readonly path: string;
  read(path: string): Promise<string>;
  readonly maxSteps: number;
}

async function compileFetched(text: string, { path, read, grant, maxSteps }: Fetching): Promise<Fetched> {
  const files = new Map<string, string>();
  const definition = await compileText(text, {
    source: path,
    grant,
    folders: [],
    maxSteps,
    read: async (file) => {
      const content = await read(file);
      files.set(file, content);
      return content;
    },
  });
  return { text, files, definition };
}

async function isSame(files: ReadonlyMap<string, string>, read: (path: string) => Promise<string>): Promise<boolean> {
  for (const [path, content] of files) if ((await read(path)) !== content) return false;
  return true;
}
