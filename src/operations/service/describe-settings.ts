import { z } from "zod";
import type { Config } from "../../config/load-config.ts";
import { ALL_SETTINGS } from "../../config/settings.ts";
import type { Json } from "../../core/json.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";
import { type Frozen, jsonSchema } from "../schemas.ts";

export const settingSchema = z
  .object({
    setting: z.string().describe("Its section and name, such as `server.port`."),
    value: jsonSchema.describe("Without secrets; null where it is not set."),
    origin: z
      .string()
      .describe("`default`, `pawl.yaml`, `.env NAME`, `environment NAME`, or the flag of the command line."),
    description: z.string(),
  })
  .meta({ id: "Setting" });

export type ShownSetting = Frozen<z.output<typeof settingSchema>>;

/** Every setting with its value and where that comes from. `mask`: takes out what is known as secret. */
export function describeSettings({ settings, origins }: Config, mask: (text: string) => string) {
  const values = settings as unknown as Readonly<Record<string, Readonly<Record<string, Json | undefined>>>>;
  return ALL_SETTINGS.map(({ section, key, path, is, says }): ShownSetting => {
    const value = values[section]?.[key] ?? null;
    return {
      setting: path,
      value: is === "secret" && value !== null ? HIDDEN : withoutSecrets(value, mask),
      origin: origins.get(path) ?? "default",
      description: says,
    };
  });
}

const HIDDEN = "********";

/** Nested settings hold keys and headers, and an address may hold a password. The name of a variable is no secret. */
function withoutSecrets(value: Json, mask: (text: string) => string): Json {
  if (typeof value === "string") return mask(value).replace(PASSWORD, `$1${HIDDEN}@`);
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const isSecret = typeof each === "string" && SECRET_NAME.test(name) && !VARIABLE.test(each);
      return [name, isSecret ? HIDDEN : withoutSecrets(each, mask)];
    }),
  );
}

const PASSWORD = /(:\/\/[^/@\s:]*:)[^/@\s]+@/g;
const VARIABLE = /^(\w+ )?\$\{\w+\}$/;
