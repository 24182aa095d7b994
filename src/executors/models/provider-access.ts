import { PawlError } from "../../core/errors/pawl-error.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";
import { BUILT_INS } from "./built-ins.ts";
import type { ProviderModel } from "./language-model.ts";
import type { ConfiguredProvider, ModelsOptions, ProviderKind } from "./models-options.ts";
import { createProviderFetch } from "./provider-fetch.ts";

/** The settings of a provider, resolved for one call. */
export interface ProviderAccess {
  readonly kind: ProviderKind;
  readonly name: string;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Must not stand in anything that is stored or shown. */
  readonly secrets: readonly string[];
}

/** Throws `MODEL_NOT_CONFIGURED` with the name of the variable that is missing. */
export function accessProvider(name: string, settings: ConfiguredProvider, options: ModelsOptions): ProviderAccess {
  const { kind } = settings;
  const baseUrl = resolve(settings.base_url, options);
  const apiKey = resolve(settings.api_key, options) ?? builtInKey(name, settings, options);
  if (kind === "openai-compatible" && baseUrl === undefined) throw noAddress(name, settings);
  if (apiKey === undefined && (kind !== "openai-compatible" || settings.api_key !== undefined))
    throw noKey(name, settings);
  const headers = Object.entries(settings.headers ?? {}).map(([header, text]): [string, string] => {
    return [header, resolveEnv(text, options.env)];
  });
  const secretHeaders = headers.filter(([header]) => SECRET_NAME.test(header)).map(([, value]) => value);
  return {
    kind,
    name,
    baseUrl,
    apiKey,
    headers: Object.fromEntries(headers),
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...secretHeaders],
  };
}

/** Empty counts as not set. */
function resolve(text: string | undefined, { env }: ModelsOptions): string | undefined {
  const resolved = text === undefined ? "" : resolveEnv(text, env).trim();
  return resolved === "" ? undefined : resolved;
}

/** The built-in key goes to the built-in provider, also at an address of the user's own. */
function builtInKey(name: string, { kind, api_key }: ConfiguredProvider, { keys }: ModelsOptions): string | undefined {
  if (kind === "openai-compatible" || name !== kind || api_key !== undefined) return undefined;
  return keys[kind]?.trim() || undefined;
}

/** The variable that holds the key, or the setting that lacks it. Undefined: the provider needs none. */
export function keyNameOf(name: string, { kind, api_key }: ConfiguredProvider): string | undefined {
  if (kind === "openai-compatible" && api_key === undefined) return undefined;
  const variables = [...(api_key ?? "").matchAll(/\$\{(\w+)\}/g)].map(([, variable]) => variable);
  const isBuiltIn = kind !== "openai-compatible" && name === kind;
  if (variables.length > 0) return variables.join(", ");
  return isBuiltIn ? BUILT_INS[kind].variable : `\`models.providers.${name}.api_key\``;
}

function noKey(name: string, settings: ConfiguredProvider): PawlError {
  const missing = keyNameOf(name, settings);
  return new PawlError("MODEL_NOT_CONFIGURED", {
    message: `The provider "${name}" has no key: ${missing} is not set.`,
    remedy: `Set ${missing}, name another model, or try it out with \`mock:\`.`,
  });
}

function noAddress(name: string, { base_url }: ConfiguredProvider): PawlError {
  const missing = base_url === undefined ? "" : ` (${base_url})`;
  return new PawlError("MODEL_NOT_CONFIGURED", {
    message: `The provider "${name}" has no address${missing}.`,
    remedy: `Set \`models.providers.${name}.base_url\`, for example http://127.0.0.1:11434/v1.`,
  });
}

/** Loads the provider's package when a model is first asked: together they cost a tenth of a second and more. */
export async function openProvider(access: ProviderAccess, modelId: string): Promise<ProviderModel> {
  const { kind, name, baseUrl, apiKey, headers, secrets } = access;
  const fetch = createProviderFetch(kind, { id: `${name}:${modelId}`, secrets });
  const common = { headers, fetch, baseURL: baseUrl, apiKey };
  switch (kind) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(common)(modelId);
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(common)(modelId);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(common)(modelId);
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({ ...common, name, baseURL: baseUrl ?? "", includeUsage: true })(modelId);
    }
  }
}
