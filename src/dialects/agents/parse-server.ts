import type { Json, JsonObject } from "../../core/json.ts";
import { toExcerpt } from "../source/printable.ts";
import { toJson } from "../source/yaml-node.ts";
import type { ServerDefinition, Setting } from "./agents-file.ts";
import type { Component } from "./component.ts";
import { readName } from "./component-name.ts";
import { LooseReader } from "./loose-reader.ts";
import type { ParseContext } from "./parse-context.ts";

/**
 * A client of the original format, an `mcp_server` of the later one, or an entry of a map `mcpServers`: one MCP server, in
 * the words that its host reads.
 */
export function parseServer(component: Component, context: ParseContext): ServerDefinition | undefined {
  const named = readName(component, { what: "Client", keys: ["client_id", "name"] }, context);
  const reader = new LooseReader(component.map, `client '${toExcerpt(named?.name ?? "")}'`, context);
  const { keys } = reader;
  // The original asks servers what they can, and reads these no more than we do.
  keys.ignore("client_id", "name", "description", "capabilities", "registration_timeout");
  const reached = readWay(reader, context);
  const settings: [string, Json | undefined][] = [
    ...reached,
    ["args", reader.names("args")?.map(({ name }) => name)],
    ["env", reader.texts("env")],
    ["cwd", reader.text("cwd")?.value],
    ["headers", reader.texts("headers")],
    ["venv", reader.text("venv")?.value],
    ["roots", readRoots(reader, context)],
    ["timeout_ms", readTimeout(reader, component.isPlainServer === true)],
    ["routing_weight", reader.number("routing_weight", { min: 0, max: 1_000_000 })?.value],
    ["exclude", reader.names("exclude")?.map(({ name }) => name)],
    ["start", keys.choice("start", ["lazy", "eager"])],
    ["protocol", keys.choice("protocol", ["auto", "legacy", "2026-07-28"])],
    ["tools", keys.object("tools")?.value],
  ];
  keys.reportUnknownKeys("a client");
  if (named === undefined) return undefined;
  return { ...named, settings: Object.fromEntries(settings.filter(isGiven)) };
}

function isGiven(entry: readonly [string, Json | undefined]): entry is [string, Json] {
  return entry[1] !== undefined;
}

const TRANSPORTS = ["stdio", "http", "streamable-http", "sse"];
/** How the later format calls them. */
const LATER_TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ["local", "stdio"],
  ["http_stream", "http"],
  ["streamable_http", "http"],
]);

/** A program, started as it says itself or by the ending of its file, or a URL. */
function readWay(reader: LooseReader, { problems }: ParseContext): readonly [string, Json | undefined][] {
  const { keys } = reader;
  const type = reader.text("type")?.value ?? "";
  const transport = reader.text("transport_type") ?? reader.text("transport");
  const named = LATER_TRANSPORTS.get(transport?.value ?? "") ?? transport?.value ?? type;
  if (transport !== undefined && !TRANSPORTS.includes(named)) {
    const message = `\`${toExcerpt(transport.value)}\` is no way to reach a server.`;
    problems.error({ code: "VALUE_INVALID", at: transport.at, message, remedy: `Use ${TRANSPORTS.join(", ")}.` });
  }
  const path = reader.text("server_path");
  const command = reader.text("command");
  const url = reader.text("url") ?? reader.text("http_endpoint");
  const given = [path, command, url].filter((text) => text !== undefined && text.value.trim() !== "");
  if (given.length === 0) {
    const message = "The client says neither `server_path` nor `command` nor `url`.";
    problems.error({ code: "KEY_MISSING", at: keys.at("server_path"), message, remedy: "Add one of the three." });
  }
  if (url !== undefined && !/^(https?:\/\/|\$\{)\S+$/.test(url.value)) {
    const message = "`url` must be a URL, or a variable of the environment.";
    problems.error({ code: "VALUE_INVALID", at: url.at, message, remedy: "Begin it with `http://` or `https://`." });
  }
  return [
    ["type", TRANSPORTS.includes(named) ? named : undefined],
    ["server_path", path?.value],
    ["command", command?.value],
    ["url", url?.value],
  ];
}

/** In seconds; in a map `mcpServers`, as other programs write it, in milliseconds. */
function readTimeout(reader: LooseReader, inMilliseconds: boolean): number | undefined {
  const factor = inMilliseconds ? 1 : 1_000;
  const timeout: Setting | undefined = reader.number("timeout", { min: 0.001, max: 31_536_000_000 / factor });
  return timeout === undefined ? undefined : Math.max(1, Math.round(Number(timeout.value) * factor));
}

function readRoots(reader: LooseReader, { problems }: ParseContext): Json | undefined {
  const list = reader.keys.list("roots");
  return list?.items.flatMap((item): JsonObject[] => {
    const root = item.kind === "map" ? toJson(item) : undefined;
    const uri = item.kind === "map" ? item.entries.get("uri")?.value : undefined;
    if (uri?.kind === "scalar" && typeof uri.value === "string" && typeof root === "object")
      return [root as JsonObject];
    const message = "An entry of `roots` is a map with a `uri`.";
    problems.error({ code: "WRONG_TYPE", at: item, message, remedy: "Write `{uri, name}`." });
    return [];
  });
}
