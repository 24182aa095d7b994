import type { NestedSettings } from "./nested-settings.ts";

/** A kind of value, with the type that it is read as. The checks are in `settings-schema.ts`. */
export interface Values extends NestedSettings {
  readonly text: string;
  /** Letters, digits, `.`, `_` and `-`, a letter first: a name that other programs and addresses take as it is. */
  readonly name: string;
  /** A text that is masked wherever it would be shown. */
  readonly secret: string;
  readonly url: string;
  readonly integer: number;
  readonly number: number;
  readonly milliseconds: number;
  readonly bytes: number;
  /** At least 1. */
  readonly count: number;
  readonly port: number;
  readonly flag: boolean;
  /** In the environment: separated by commas. */
  readonly texts: readonly string[];
  readonly origins: readonly string[];
  /** What texts may reach, as `pawl keys create --grant` takes it. */
  readonly grant: string;
}

export interface SettingDescription {
  /** A kind, or the texts to choose from. Nested values are JSON in the environment. */
  readonly is: keyof Values | readonly [string, ...string[]];
  /** A sentence for the docs. */
  readonly says: string;
  /** From the smallest to the largest number, instead of its kind's. */
  readonly range?: readonly [number, number];
  /** The least length of a text. */
  readonly minLength?: number;
  readonly default?: unknown;
  /** Names in the environment beside `PAWL_SECTION__KEY`, which goes before them. */
  readonly env?: readonly string[];
  /** Accepted already, used by a later version: what happens instead today. */
  readonly later?: string;
  /** The key in `terminal-control.toml`. */
  readonly toml?: string;
  /** Used where neither a setting nor `terminal-control.toml` says otherwise. */
  readonly fallback?: unknown;
}
