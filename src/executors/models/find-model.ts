import { PawlError } from "../../core/errors/pawl-error.ts";
import { BUILT_IN_ALIASES, BUILT_INS, isBuiltIn } from "./built-ins.ts";
import { type ConfiguredProvider, type ModelsOptions, ownEntry } from "./models-options.ts";

export type FoundModel =
  | {
      readonly kind: "provider";
      readonly provider: string;
      readonly modelId: string;
      readonly settings: ConfiguredProvider;
    }
  | {
      readonly kind: "mock";
      /** Empty: answers are made up. */
      readonly script: string;
      /** The configuration names it, not a definition: it may lie anywhere. */
      readonly isConfigured: boolean;
    };

const MAX_ALIASES = 10;

/** An alias, `provider:model`, or a model whose name tells its provider. Throws `MODEL_UNKNOWN`, `MODEL_NOT_CONFIGURED`. */
export function findModel(name: string | undefined, options: ModelsOptions): FoundModel {
  const asked = name ?? options.default;
  if (asked === undefined)
    throw new PawlError("MODEL_NOT_CONFIGURED", {
      message: "No model is named, and `models.default` is not set.",
      remedy: "Write `model: provider:model` into the step or its prompt file, or set PAWL_MODELS__DEFAULT.",
    });
  const meant = followAliases(asked, options);
  const isConfigured = name === undefined || meant !== name;
  const colon = meant.indexOf(":");
  const provider = colon === -1 ? guessProvider(meant) : meant.slice(0, colon);
  const modelId = meant.slice(colon + 1);
  if (provider === "mock" && ownEntry(options.providers, "mock") === undefined)
    return { kind: "mock", script: modelId, isConfigured };
  const settings = provider === undefined ? undefined : settingsOf(provider, options);
  if (provider === undefined || settings === undefined || modelId === "") throw unknown(asked, meant, options);
  return { kind: "provider", provider, modelId, settings };
}

function followAliases(name: string, { aliases }: ModelsOptions): string {
  let meant = name;
  for (let hops = 0; hops < MAX_ALIASES; hops += 1) {
    const next = ownEntry(aliases, meant) ?? ownEntry(BUILT_IN_ALIASES, meant);
    if (next === undefined) return meant;
    meant = next;
  }
  const message = `The alias "${name}" of \`models.aliases\` leads in a circle.`;
  throw new PawlError("MODEL_UNKNOWN", { message, remedy: "Let it name a `provider:model`." });
}

function guessProvider(model: string): string | undefined {
  return Object.entries(BUILT_INS).find(([, { names }]) => names.test(model))?.[0];
}

function settingsOf(provider: string, { providers }: ModelsOptions): ConfiguredProvider | undefined {
  return ownEntry(providers, provider) ?? (isBuiltIn(provider) ? { kind: provider } : undefined);
}

/** The names that a definition may write. */
export function knownNames({ aliases, providers }: ModelsOptions) {
  return {
    providers: [...new Set([...Object.keys(BUILT_INS), ...Object.keys(providers), "mock"])],
    aliases: [...new Set([...Object.keys(aliases), ...Object.keys(BUILT_IN_ALIASES)])],
  };
}

function unknown(asked: string, meant: string, options: ModelsOptions): PawlError {
  const named = meant === asked ? `"${asked}"` : `"${asked}" (${meant})`;
  const { providers, aliases } = knownNames(options);
  const remedy = `Write \`provider:model\`. Providers: ${providers.join(", ")}. Aliases: ${aliases.join(", ")}.`;
  return new PawlError("MODEL_UNKNOWN", { message: `No provider is known for the model ${named}.`, remedy });
}
