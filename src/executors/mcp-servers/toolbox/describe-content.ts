import type { CallToolResult } from "@modelcontextprotocol/client";
import { writeExact } from "../../../core/exact-json.ts";

type Block = CallToolResult["content"][number];

/**
 * A tool's result as a text for a model. Texts are taken as they are; of what a model cannot read here (images, sounds,
 * bytes) it is told what it is. Structured content stands in for texts where there are none: servers send both.
 */
export function describeContent({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(describeBlock);
  const hasText = content.some(({ type }) => type === "text" || type === "resource");
  if (structuredContent !== undefined && !hasText) texts.unshift(writeExact(structuredContent));
  // A lone half of a pair cannot be written as UTF-8.
  return texts.join("\n").toWellFormed();
}

function describeBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${bytesOf(block.data)} bytes, not shown]`;
    case "resource": {
      const { resource } = block;
      const kind = resource.mimeType === undefined ? "" : `, ${resource.mimeType}`;
      if ("text" in resource) return `[resource ${resource.uri}${kind}]\n${resource.text}`;
      return `[resource ${resource.uri}${kind}, ${bytesOf(resource.blob)} bytes, not shown]`;
    }
    case "resource_link": {
      const { uri, name, mimeType, description } = block;
      const facts = [name, mimeType, description].filter((fact) => fact !== undefined && fact !== "");
      return `[link to a resource: ${uri} (${facts.join(", ")})]`;
    }
  }
}

function bytesOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}
