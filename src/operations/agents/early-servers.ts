import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Execution } from "../application/ports.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";

/** Holds the MCP servers that definitions want to be connected at the start, as the definitions are now. */
export class EarlyServers {
  readonly #app: Pick<Execution, "toolbox">;
  #held: ReadonlySet<string> = new Set();

  constructor(app: Pick<Execution, "toolbox">) {
    this.#app = app;
  }

  /** Does not wait for any server. Where no definition has one nothing is even loaded. */
  async update(definitions: readonly RegisteredDefinition[]): Promise<void> {
    const wanted = new Map(definitions.flatMap(toWanted));
    const before = this.#held;
    this.#held = new Set(wanted.keys());
    if (wanted.size === 0 && before.size === 0) return;
    const toolbox = await this.#app.toolbox();
    for (const [holder, request] of wanted) toolbox.hold(holder, request);
    // Those that are gone let go of theirs.
    for (const holder of before) if (!wanted.has(holder)) toolbox.hold(holder, { servers: {} });
  }
}

type Wanted = readonly [string, { readonly servers: JsonObject; readonly folder?: string }];

function toWanted({ name, file, report }: RegisteredDefinition): readonly Wanted[] {
  const { mcp_servers: servers, folder } = report.definition?.graph.settings ?? {};
  if (!isJsonObject(servers)) return [];
  const isEager = Object.values(servers).some((server) => isJsonObject(server) && server["start"] === "eager");
  if (!isEager) return [];
  return [[`${file}#${name}`, { servers, ...(typeof folder === "string" ? { folder } : {}) }]];
}
