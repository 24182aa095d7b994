import type { Config } from "../../config/load-config.ts";
import { ALL_SETTINGS } from "../../config/settings.ts";
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
  return ALL_SETTINGS.map(({ section, key, path, is }) => {
    const value = values[section]?.[key] ?? null;
    return {
      setting: path,
      value: is === "secret" && value !== null ? "********" : value,
      origin: origins.get(path) ?? "default",
    };
  });
}
