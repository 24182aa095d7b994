import { z } from "zod";
import { parseExact } from "../core/exact-json.ts";
import { orElse } from "../core/or-else.ts";
import { GRANT_WORDS, parseGrant } from "../core/trust/parse-grant.ts";
import { NESTED_SETTINGS } from "./nested-settings.ts";
import type { SettingDescription } from "./setting-description.ts";
import type { Settings, TerminalSettings } from "./settings.ts";
import { SETTINGS } from "./settings-table.ts";

const NAME = /^[a-z][\w.-]{0,127}$/i;

/** Checks settings from every origin; numbers may be texts, as the environment has no others. */
export const settingsSchema = z.strictObject(
  Object.fromEntries(Object.entries(SETTINGS).map(([name, settings]) => [name, sectionSchema(settings)])),
) as unknown as z.ZodType<Settings>;

/** Also for what `terminal-control.toml` says about terminals. */
export const terminalSettingsSchema = sectionSchema(SETTINGS.terminal) as z.ZodType<TerminalSettings>;

function sectionSchema(settings: Readonly<Record<string, SettingDescription>>) {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(settings).map(([key, setting]) => {
        const schema = valueSchema(setting);
        return [key, setting.default === undefined ? schema.optional() : schema.default(setting.default)];
      }),
    ),
  );
}

function valueSchema({ is, range, minLength }: SettingDescription): z.ZodType {
  switch (is) {
    case "text":
    case "secret":
      return minLength === undefined ? z.string() : z.string().min(minLength);
    case "name":
      return z.string().regex(NAME, "a name has letters, digits, `.`, `_` and `-`, and begins with a letter");
    case "url":
      return z.url({ protocol: /^https?$/ });
    case "number":
      return inRange(z.coerce.number(), range);
    case "integer":
      return inRange(z.coerce.number().int(), range);
    case "milliseconds":
      return inRange(z.coerce.number().int(), range ?? [1, 2 ** 31 - 1]);
    case "bytes":
      return range === undefined ? z.coerce.number().int().min(1_024) : inRange(z.coerce.number().int(), range);
    case "count":
      return inRange(z.coerce.number().int(), [1, 100_000]);
    case "port":
      return inRange(z.coerce.number().int(), [0, 65_535]);
    case "flag":
      return z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
    case "texts":
      return z.preprocess(splitAtCommas, z.array(z.string()));
    case "origins":
      return z.preprocess(
        splitAtCommas,
        z.array(z.string().refine(isOrigin, "is no origin such as `https://app.example`")),
      );
    case "grant":
      return z.string().superRefine((text, context) => {
        const parsed = parseGrant(text);
        if ("problem" in parsed) context.addIssue(`${parsed.problem}; the words are ${GRANT_WORDS.join(", ")}`);
      });
    case "context":
    case "aliases":
    case "providers":
    case "prices":
    case "servers":
    case "counts":
    case "keep":
      return z.preprocess(parseJsonText, NESTED_SETTINGS[is]);
    default:
      return z.enum(is);
  }
}

function inRange(schema: z.ZodCoercedNumber, range: SettingDescription["range"]) {
  return range === undefined ? schema : schema.min(range[0]).max(range[1]);
}

/** Browsers write origins in one way only; another spelling would never be equal to one. */
function isOrigin(value: string): boolean {
  return URL.parse(value)?.origin === value;
}

function splitAtCommas(value: unknown): unknown {
  return typeof value === "string" ? value.split(",").map((part) => part.trim()) : value;
}

function parseJsonText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return orElse(() => parseExact(value) as unknown, value);
}
