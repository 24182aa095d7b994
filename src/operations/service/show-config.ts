import type { Config } from "../../config/load-config.ts";
import { SETTING_NAMES } from "../../config/setting-names.ts";
import type { Json } from "../../core/json.ts";

export interface ShownSetting {
  readonly setting: string;
  /** Masked where it is a secret; null where it is not set. */
  readonly value: Json;
  readonly origin: string;
}

/** Every setting with its value and where that comes from. */
export function showConfig({ settings, origins }: Config): readonly ShownSetting[] {
  const values = settings as unknown as Readonly<Record<string, Readonly<Record<string, Json | undefined>>>>;
  return SETTING_NAMES.map(({ section, key, isSecret }) => {
    const setting = `${section}.${key}`;
    const value = values[section]?.[key] ?? null;
    return {
      setting,
      value: isSecret && value !== null ? "********" : value,
      origin: origins.get(setting) ?? "default",
    };
  });
}
