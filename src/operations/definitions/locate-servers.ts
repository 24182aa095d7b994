import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Graph } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/**
 * Writes into the graph which folder the relative paths of its MCP servers start from: the one that has most of them, the
 * first where several have as many. So files beside the agents file are found, and those of the application are.
 */
export function locateServers(graph: Graph, folders: readonly string[]): Graph {
  const { mcp_servers: servers } = graph.settings;
  const [first] = folders;
  if (graph.dialect !== "agents" || first === undefined) return graph;
  const paths = isJsonObject(servers) ? Object.values(servers).flatMap(pathsOf) : [];
  let folder = first;
  let most = 0;
  for (const each of folders) {
    const found = paths.filter((path) => existsSync(join(each, path))).length;
    if (found <= most) continue;
    folder = each;
    most = found;
  }
  return { ...graph, settings: { ...graph.settings, folder } };
}

function pathsOf(server: Json): readonly string[] {
  if (!isJsonObject(server)) return [];
  const { args } = server;
  const named = [...["server_path", "command", "cwd", "venv"].map((key) => own(server, key)), ...listOf(args)];
  return named.filter((path): path is string => typeof path === "string" && isRelativePath(path));
}

function own(server: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(server, key) ? server[key] : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A bare word is a command or an argument, unless it has the ending of a file. */
function isRelativePath(text: string): boolean {
  if (text === "" || text.includes("\0") || text.includes("${") || text.startsWith("-") || isAbsolute(text))
    return false;
  return /[\\/]/.test(text) ? !/^[a-z]+:\/\//i.test(text) : /\.[A-Za-z0-9]{1,5}$/.test(text);
}
