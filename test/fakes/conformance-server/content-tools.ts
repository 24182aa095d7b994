import { setTimeout as sleep } from "node:timers/promises";
import { type FixtureCall, type FixtureTool, toText, toTool } from "./fixture-tool.ts";
import { PIXEL, SILENCE } from "./media.ts";

/** How long the scenarios want a tool to take between two of its messages. */
const PAUSE_MS = 50;

const IMAGE = { type: "image", data: PIXEL, mimeType: "image/png" } as const;

/** Tools that answer by themselves. */
export const CONTENT_TOOLS: readonly FixtureTool[] = [
  toTool("test_simple_text", () => toText("This is a simple text response for testing.")),
  toTool("test_image_content", () => ({ content: [IMAGE] })),
  toTool("test_audio_content", () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] })),
  toTool("test_embedded_resource", () => ({
    content: [toResource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })),
  toTool("test_multiple_content_types", () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      IMAGE,
      toResource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  })),
  toTool("test_error_handling", () => ({
    ...toText("This tool intentionally returns an error for testing"),
    isError: true,
  })),
  toTool("test_tool_with_progress", reportProgress),
  toTool("test_tool_with_logging", log),
  toTool("test_logging_tool", log),
  toTool("json_schema_2020_12_tool", () => toText("done"), {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  }),
];

function toResource(uri: string, mimeType: string, text: string) {
  return { type: "resource", resource: { uri, mimeType, text } } as const;
}

async function reportProgress({ token, context: { mcpReq } }: FixtureCall) {
  for (const progress of [0, 50, 100]) {
    if (progress > 0) await sleep(PAUSE_MS);
    if (token === undefined) continue;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, total: 100 } });
  }
  return toText("done");
}

async function log({ context: { mcpReq } }: FixtureCall) {
  for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await mcpReq.log("info", message);
    await sleep(PAUSE_MS);
  }
  return toText("done");
}
