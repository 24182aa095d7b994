import type { Model } from "../../models/create-models.ts";
import type { ModelTool } from "../../models/language-model.ts";

/** The web search that a provider has itself. Undefined: it has none that is known. */
export function toWebSearch(kind: Model["kind"]): ModelTool | undefined {
  switch (kind) {
    case "anthropic":
      return { type: "provider", id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 5 } };
    case "openai":
      return { type: "provider", id: "openai.web_search", name: "web_search", args: {} };
    case "google":
      return { type: "provider", id: "google.google_search", name: "google_search", args: {} };
    case "openai-compatible":
    case "mock":
      return undefined;
  }
}
