import { z } from "zod";
import type { Config } from "../../config/load-config.ts";
import { ALL_SETTINGS } from "../../config/settings.ts";
import type { Json } from "../../core/json.ts";
import { byItsSurfaces, defineOperation } from "../operation.ts";
import { typed } from "../schemas.ts";
import { describeHealth, healthSchema } from "./check-health.ts";
import { type Check, runDoctor } from "./run-doctor.ts";

export const getHealth = defineOperation({
  id: "getHealth",
  summary: "How the service and what it stands on are",
  scope: "open",
  effect: "reads",
  input: z.strictObject({}),
  output: healthSchema,
  http: { method: "GET", path: "/health" },
  cli: { no: "`pawl doctor` looks at more." },
  mcp: { no: "It is the resource pawl://health." },
  handle: ({ app }) => describeHealth(app),
});

/** For keys that may read and belong to no tenant: the numbers are everybody's. */
export const readMetrics = defineOperation({
  id: "readMetrics",
  summary: "What the server has counted, in the text format of Prometheus",
  scope: "read",
  effect: "reads",
  input: z.strictObject({}),
  output: z.string(),
  http: { method: "GET", path: "/metrics", answers: "text/plain" },
  cli: { no: "Prometheus reads it." },
  mcp: { no: "Prometheus reads it." },
  handle: byItsSurfaces,
});

const OF_THIS_MACHINE = { no: "It is about files and processes of this machine." };

export const checkInstallation = defineOperation({
  id: "checkInstallation",
  summary: "Check what runs need",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({}),
  output: z.array(typed<Check>()),
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "doctor",
      // Notes are no result.
      show: (checks) => ({
        data: checks
          .filter(({ state }) => state !== "note")
          .flatMap(toLines)
          .join("\n"),
        told: checks.filter(({ state }) => state === "note").flatMap(toLines),
      }),
      exitCodeOf: (checks) => (checks.some(({ state }) => state === "error") ? 1 : 0),
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: ({ app }) => runDoctor(app),
});

function toLines({ name, state, detail, remedy }: Check): readonly string[] {
  return [`${state.padEnd(5)} ${name}: ${detail}`, ...(remedy === undefined ? [] : [`      ${remedy}`])];
}

export const showSettings = defineOperation({
  id: "showSettings",
  summary: "Show every setting",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({ origin: z.boolean().default(false).describe("And where it comes from.") }),
  output: z.array(typed<ShownSetting>()),
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "config",
      show: (settings, { origin: isAsked }) => ({
        data: settings
          .map(({ setting, value, origin }) => {
            const shown = `${setting.padEnd(30)} ${value === null ? "(not set)" : String(value)}`;
            return isAsked === true ? `${shown.padEnd(55)} ${origin}` : shown;
          })
          .join("\n"),
      }),
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }) => showConfig(app.config, app.mask),
});

interface ShownSetting {
  readonly setting: string;
  /** Masked where it is a secret; null where it is not set. */
  readonly value: Json;
  readonly origin: string;
}

/** Every setting with its value and where that comes from. */
/** An address may hold a password. */
function showConfig({ settings, origins }: Config, mask: (text: string) => string): readonly ShownSetting[] {
  const values = settings as unknown as Readonly<Record<string, Readonly<Record<string, Json | undefined>>>>;
  return ALL_SETTINGS.map(({ section, key, path, is }) => {
    const value = values[section]?.[key] ?? null;
    return {
      setting: path,
      value: is === "secret" && value !== null ? "********" : typeof value === "string" ? mask(value) : value,
      origin: origins.get(path) ?? "default",
    };
  });
}
