import { existsSync } from "node:fs";
import { join } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import { readToml } from "./read-toml.ts";
import type { SettingDescription } from "./setting-description.ts";
import type { Settings, TerminalSettings } from "./settings.ts";
import { SETTINGS } from "./settings-table.ts";

export type LoadedTerminalOptions = Awaited<ReturnType<typeof loadTerminalOptions>>;

export interface TerminalOptionSources {
  readonly settings: Settings;
  readonly currentDir: string;
  readonly homeDir: string;
}

const FILE = "terminal-control.toml";

const DESCRIPTIONS: Readonly<Record<string, SettingDescription>> = SETTINGS.terminal;

/** From a place in the file to the setting. */
const KNOWN = new Map(Object.entries(DESCRIPTIONS).flatMap(([name, { toml }]) => (toml ? [[toml, name]] : [])));

type Complete = typeof SETTINGS.terminal;
type Fallbacks = {
  readonly [Name in keyof Complete as Complete[Name] extends { readonly fallback: unknown }
    ? Name
    : never]: NonNullable<TerminalSettings[Name]>;
};

const FALLBACKS = Object.fromEntries(
  Object.entries(DESCRIPTIONS).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])),
) as Fallbacks;

/**
 * The settings of section `terminal`, then the first `terminal-control.toml` in the current folder or `~/.config`, then
 * defaults. Throws `CONFIG_INVALID`, with the place, where the file cannot be used.
 */
export async function loadTerminalOptions(sources: TerminalOptionSources) {
  const { settings, currentDir, homeDir } = sources;
  const path = [join(currentDir, FILE), join(homeDir, ".config", FILE)].find((candidate) => existsSync(candidate));
  const file = path === undefined ? { values: {}, notes: [] } : await readFile(path);
  const found = { ...FALLBACKS, ...withoutAbsent(file.values), ...withoutAbsent(settings.terminal) };
  return {
    level: found.level,
    sandbox: found.sandbox,
    sandboxFolders: found.sandbox_folders ?? [],
    backend: found.backend,
    maxCallsPerMinute: found.max_calls_per_minute,
    maxSessions: found.max_sessions,
    maxSessionsOfTenant: settings.quotas.terminals,
    defaultShell: found.default_shell,
    isolateHistory: found.isolate_history,
    columns: found.columns,
    rows: found.rows,
    scrollbackRows: found.scrollback_rows,
    sweepAfterMs: found.sweep_after_ms,
    auditLogPath: settings.mcp.audit_log_path,
    record: found.record,
    recordSessions: found.record_sessions,
    recordMaxBytes: found.record_max_bytes,
    /** The live view. */
    web: {
      enabled: found.web_enabled,
      host: found.web_host,
      port: found.web_port,
      token: found.web_token,
      canType: found.web_input,
    },
    /** Keys of the file that are not used. */
    notes: file.notes,
  };
}

interface FileSettings {
  readonly values: TerminalSettings;
  readonly notes: readonly string[];
}

async function readFile(path: string): Promise<FileSettings> {
  const values: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [section, content] of Object.entries(await readToml(path))) {
    for (const [key, value] of entriesOf(content)) {
      const name = KNOWN.get(`${section}.${key}`);
      if (name === undefined) notes.push(`${path}: ${key} in [${section}] is not used.`);
      else values[name] = name === "level" && typeof value === "string" ? value.toLowerCase() : value;
    }
  }
  return { values: await validate(values, path), notes };
}

async function validate(values: Readonly<Record<string, unknown>>, path: string): Promise<TerminalSettings> {
  const { terminalSettingsSchema } = await import("./settings-schema.ts");
  const result = terminalSettingsSchema.safeParse(values);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path: [name], message }) => `${path}: ${placeOf(name)}: ${message}`);
  throw new PawlError("CONFIG_INVALID", { message: lines.join("\n"), details: lines });
}

function placeOf(name: PropertyKey | undefined): string {
  const place = DESCRIPTIONS[String(name)]?.toml ?? String(name);
  const [section, key] = place.split(".");
  return `${key} in [${section}]`;
}

function entriesOf(content: unknown): [string, unknown][] {
  return typeof content === "object" && content !== null ? Object.entries(content) : [];
}

/** An undefined value must not cover one that goes behind it. */
function withoutAbsent(settings: TerminalSettings): Given {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

type Given = { readonly [Name in keyof TerminalSettings]?: NonNullable<TerminalSettings[Name]> };
