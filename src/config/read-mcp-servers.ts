import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import { parseExact } from "../core/exact-json.ts";
import type { McpServerSettings } from "./nested-settings.ts";

/** A server, or why its entry cannot be used: one broken entry does not stop the others. */
export interface McpServerEntry {
  readonly origin: string;
  readonly settings: McpServerSettings | { readonly problem: string };
}

const FILE = ".mcp.json";

/**
 * The servers of the configuration, before those of `.mcp.json` in the application: the file that Claude, Cursor and
 * others read too. Other keys of the file, and keys that mean nothing here, are left alone. Throws `CONFIG_INVALID`
 * if the file is no JSON.
 */
export async function readMcpServers(
  appDir: string,
  configured: Readonly<Record<string, McpServerSettings>>,
): Promise<ReadonlyMap<string, McpServerEntry>> {
  const servers = new Map<string, McpServerEntry>(await readServerFile(join(appDir, FILE)));
  for (const [name, settings] of Object.entries(configured)) servers.set(name, { origin: "pawl.yaml", settings });
  return servers;
}

async function readServerFile(path: string): Promise<readonly (readonly [string, McpServerEntry])[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new PawlError("CONFIG_INVALID", { message: `${path} cannot be read.`, cause: error });
  });
  if (text === undefined) return [];
  return [...(await readEntries(serversIn(text, path), FILE))];
}

/** Reads a map of servers; `origin` is its place, for messages. */
export async function readEntries(servers: object, origin: string): Promise<ReadonlyMap<string, McpServerEntry>> {
  const { mcpServerSchema } = await import("./nested-settings.ts");
  const entries = Object.entries(servers)
    .filter(([, value]) => !isSwitchedOff(value))
    .map(([name, value]): readonly [string, McpServerEntry] => {
      const guard = Object.keys(value ?? {}).find((key) => FOREIGN_GUARD.test(key));
      if (guard !== undefined) return [name, { origin, settings: { problem: describeGuard(guard) } }];
      const result = mcpServerSchema.safeParse(value);
      if (result.success) return [name, { origin, settings: result.data }];
      const flaws = result.error.issues.map((issue) => `${issue.path.join(".") || "the entry"}: ${issue.message}`);
      return [name, { origin, settings: { problem: flaws.join("; ") } }];
    });
  return new Map(entries);
}

/** What other programs call the keys that switch tools of a server off: it must not be open here for want of a word. */
const FOREIGN_GUARD = /^(disabled|enabled|included?|excluded?|allowed?|disallowed|denied|deny|blocked|block)_?tools$/i;

function describeGuard(key: string): string {
  return `\`${key}\` is another program's word; write \`tools: {"allow": [...]}\` or \`tools: {"deny": [...]}\``;
}

/** Several of the programs that read such files have such a switch. */
function isSwitchedOff(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ("disabled" in value && value.disabled === true) || ("enabled" in value && value.enabled === false);
}

function serversIn(text: string, path: string): object {
  const servers = mapIn(parse(text, path), "mcpServers");
  if (servers !== undefined) return servers;
  throw new PawlError("CONFIG_INVALID", { message: `${path} must hold a map \`mcpServers\`.` });
}

function parse(text: string, path: string): unknown {
  try {
    return parseExact(text) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "";
    throw new PawlError("CONFIG_INVALID", { message: `${path} is no JSON: ${reason}`, cause });
  }
}

/** A file without the key holds no servers. */
function mapIn(value: unknown, key: string): object | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : {};
  return typeof found === "object" && found !== null && !Array.isArray(found) ? found : undefined;
}
