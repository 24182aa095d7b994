import type { Model } from "../../models/create-models.ts";
import type { ModelTool, Prompt } from "../../models/language-model.ts";

interface Request {
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
}

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks what the next turn will say again: system, tools, and the conversation so far. Anthropic caches only where it is
 * told to, and others need no telling; without tools there is no next turn that would pay for it.
 */
export function withCacheMarks({ prompt, tools }: Request, kind: Model["kind"]): Request {
  if (kind !== "anthropic" || tools.length === 0) return { prompt, tools };
  return {
    prompt: prompt.map((message, index) => {
      const isMarked = message.role === "system" || index === prompt.length - 1;
      return isMarked ? { ...message, providerOptions: MARK } : message;
    }),
    tools: tools.map((tool, index) =>
      index === tools.length - 1 && tool.type === "function" ? { ...tool, providerOptions: MARK } : tool,
    ),
  };
}
