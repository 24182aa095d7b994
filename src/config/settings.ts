import type { SettingDescription, Values } from "./setting-description.ts";
import { SETTINGS } from "./settings-table.ts";

export interface NamedSetting extends SettingDescription {
  readonly section: string;
  readonly key: string;
  /** `section.key`. */
  readonly path: string;
  /** Every name in the environment; the first one goes before the others. */
  readonly variables: readonly string[];
}

type ValueOf<Described> = Described extends { readonly is: infer Is }
  ? Is extends keyof Values
    ? Values[Is]
    : Is extends readonly (infer Option)[]
      ? Option
      : never
  : never;

type SectionOf<Section> = {
  readonly [Key in keyof Section as Section[Key] extends { readonly default: unknown } ? Key : never]: ValueOf<
    Section[Key]
  >;
} & {
  readonly [Key in keyof Section as Section[Key] extends { readonly default: unknown } ? never : Key]?:
    | ValueOf<Section[Key]>
    | undefined;
};

/** The values of all settings. Those without a default may be absent. */
export type Settings = { readonly [Section in keyof typeof SETTINGS]: SectionOf<(typeof SETTINGS)[Section]> };
export type TerminalSettings = Settings["terminal"];

const SECTIONS: Readonly<Record<string, Readonly<Record<string, SettingDescription>>>> = SETTINGS;

/** In the order in which `pawl config` shows them. */
export const ALL_SETTINGS: readonly NamedSetting[] = Object.entries(SECTIONS).flatMap(([section, settings]) =>
  Object.entries(settings).map(([key, setting]) => ({
    ...setting,
    section,
    key,
    path: `${section}.${key}`,
    variables: [`PAWL_${section}__${key}`.toUpperCase(), ...(setting.env ?? [])],
  })),
);

/** The settings if nothing is configured. They are at hand without loading the schema. */
export const DEFAULTS = Object.fromEntries(
  Object.entries(SECTIONS).map(([section, settings]) => [section, defaultsOf(settings)]),
) as Settings;

function defaultsOf(settings: Readonly<Record<string, SettingDescription>>) {
  const given = Object.entries(settings).filter(([, setting]) => setting.default !== undefined);
  return Object.fromEntries(given.map(([key, setting]) => [key, setting.default]));
}
