import type { Config } from "../config/load-config.ts";

/** The keys of the providers that need nothing else. */
export function modelKeysOf({ anthropic_api_key, openai_api_key, google_api_key }: Config["settings"]["agent"]) {
  return { anthropic: anthropic_api_key, openai: openai_api_key, google: google_api_key };
}
