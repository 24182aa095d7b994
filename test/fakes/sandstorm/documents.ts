import type { Json, JsonObject } from "../../../src/core/json.ts";

/** Messages of the agent SDK and of Sandstorm, in the shapes that real servers send. */

export function init(): JsonObject {
  return {
    type: "system",
    subtype: "init",
    cwd: "/home/user",
    session_id: "s-1",
    model: "claude-sonnet",
    tools: ["Read", "WebSearch"],
    mcp_servers: [],
  };
}

export function assistant(text: string, parts: { readonly id?: string; readonly parent?: string } = {}): JsonObject {
  return {
    type: "assistant",
    message: { id: parts.id ?? "msg_1", type: "message", role: "assistant", content: [{ type: "text", text }] },
    parent_tool_use_id: parts.parent ?? null,
    session_id: "s-1",
  };
}

export function toolUse(name: string, input: JsonObject): JsonObject {
  return {
    type: "assistant",
    message: {
      id: "msg_tool",
      type: "message",
      role: "assistant",
      content: [{ type: "tool_use", id: "t-1", name, input }],
    },
    parent_tool_use_id: null,
    session_id: "s-1",
  };
}

export function toolResult(content: string): JsonObject {
  return {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t-1", content, is_error: false }] },
    parent_tool_use_id: null,
    session_id: "s-1",
  };
}

/** A successful result; `over` replaces members, `undefined` removes them. */
export function result(over: Readonly<Record<string, Json | undefined>> = {}): JsonObject {
  const usual: Readonly<Record<string, Json | undefined>> = {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    total_cost_usd: 0.0123,
    num_turns: 3,
    duration_ms: 4_200,
    duration_api_ms: 4_000,
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 40,
      service_tier: "standard",
    },
    session_id: "s-1",
  };
  const members = Object.entries({ ...usual, ...over });
  return Object.fromEntries(members.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

export function stderr(data: string): JsonObject {
  return { type: "stderr", data };
}

export function errorEvent(error: string): JsonObject {
  return { type: "error", error, request_id: "ab12cd34" };
}

export function producedFile(name: string, content: string): JsonObject {
  const data = Buffer.from(content).toString("base64");
  return { type: "file", name, relative_path: name, path: `/home/user/${name}`, size: content.length, data };
}
