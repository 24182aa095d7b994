import { z } from "zod";
import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { Care, Driving, Place, Principal, StartPorts, Stores } from "../application/ports.ts";
import { refuseTenant } from "../application/refuse-tenant.ts";
import { byItsSurfaces, defineOperation, type OperationContext } from "../operation.ts";
import { listOf } from "../schemas.ts";
import { describeHealth, healthSchema } from "./check-health.ts";
import { describeSettings, settingSchema } from "./describe-settings.ts";
import { type Finding, findingSchema, runDoctor } from "./run-doctor.ts";

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
  handle: ({ app }: OperationContext<Stores & Care>) => describeHealth(app),
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

const NO_MODEL = { no: "It is for operators of the server." };

/** Long enough for a program that is first fetched. */
const MAX_CONNECT_SECONDS = 40;

export const checkInstallation = defineOperation({
  id: "checkInstallation",
  summary: "Check what runs need",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({
    connect_seconds: z.coerce
      .number()
      .min(0)
      .max(MAX_CONNECT_SECONDS)
      .default(0)
      .describe(
        "Connects the MCP servers, and waits so long for them. 0: tells what is known, and connects none. Nothing else is waited for longer than 10 s.",
      ),
  }),
  output: listOf(findingSchema),
  errors: ["FORBIDDEN"],
  http: { method: "GET", path: "/doctor" },
  cli: {
    verb: "doctor",
    usual: { connect_seconds: MAX_CONNECT_SECONDS },
    options: { connect_seconds: false },
    // Notes are no result.
    show: ({ items }) => ({
      data: items
        .filter(({ state }) => state !== "warning")
        .flatMap(toLines)
        .join("\n"),
      told: items.filter(({ state }) => state === "warning").flatMap(toLines),
    }),
    exitCodeOf: ({ items }) => (items.some(({ state }) => state === "failed") ? 1 : 0),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<StartPorts & Driving & Care>, { connect_seconds: seconds }) {
    refuseTenant(app, "What is found is about the whole server");
    return { items: await runDoctor(app, { connectMs: seconds * 1_000 }), next_cursor: null };
  },
});

const SHOWN_STATES = { ok: "ok", warning: "note", failed: "error" } as const;

function toLines({ name, state, message, remedy }: Finding): readonly string[] {
  return [`${SHOWN_STATES[state].padEnd(5)} ${name}: ${message}`, ...(remedy === null ? [] : [`      ${remedy}`])];
}

export const showSettings = defineOperation({
  id: "showSettings",
  summary: "Show every setting",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({
    origin: z
      .boolean()
      .default(false)
      .describe("And where it comes from. Programs are always told, and a terminal where this is set."),
  }),
  output: listOf(settingSchema),
  errors: ["FORBIDDEN"],
  http: { method: "GET", path: "/settings" },
  cli: {
    verb: "config",
    show: ({ items }, { origin: isAsked }) => ({
      data: items
        .map(({ setting, value, origin }) => {
          const shown = `${setting.padEnd(30)} ${value === null ? "(not set)" : toShown(value)}`;
          return isAsked === true ? `${shown.padEnd(55)} ${origin}` : shown;
        })
        .join("\n"),
    }),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place & Principal>) {
    refuseTenant(app, "The settings are those of the whole server");
    return { items: describeSettings(app.config, app.mask), next_cursor: null };
  },
});

function toShown(value: Json): string {
  return typeof value === "object" ? writeExact(value) : String(value);
}
