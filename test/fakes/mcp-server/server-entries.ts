import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ServerEntry, ServerSettings } from "../../../src/executors/mcp-servers/server-entry.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

const FAKE = fileURLToPath(new URL("main.ts", import.meta.url));
const OLD = fileURLToPath(new URL("old_server.py", import.meta.url));
const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

/** Our own server with faults, as a process. */
export function fake(faults: readonly string[] = [], more: Partial<ServerSettings> = {}): ServerEntry {
  return entry(program([FAKE, ...faults], more));
}

/** The reference server of the protocol's makers, as a process. */
export function everything(more: Partial<ServerSettings> = {}): ServerEntry {
  return entry(program([EVERYTHING, "stdio"], more));
}

/** Our own server, as a definition names it. */
export function fakeSettings(faults: readonly string[] = [], more: JsonObject = {}): JsonObject {
  return program([FAKE, ...faults], more);
}

/** A server in Python of the oldest revision, as a definition names it. */
export function oldSettings(faults: readonly string[] = [], more: JsonObject = {}): JsonObject {
  return { server_path: OLD, args: [...faults], ...more };
}

export function everythingSettings(more: JsonObject = {}): JsonObject {
  return program([EVERYTHING, "stdio"], more);
}

/** Most of what a server takes is to begin, and tests begin very many. */
function program<More extends { readonly env?: unknown }>(args: readonly string[], more: More) {
  return { command: process.execPath, args: [...args], ...more, env: { ...COMPILE_CACHE, ...Object(more.env) } };
}

export function entry(settings: ServerEntry["settings"]): ServerEntry {
  return { origin: ".mcp.json", settings };
}
