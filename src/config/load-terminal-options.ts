import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { Settings, TerminalSettings } from "./settings.ts";

/** What terminals are opened with, complete. */
export interface LoadedTerminalOptions {
  readonly level: "off" | "low" | "medium" | "high";
  readonly backend: "pty" | "tmux";
  readonly maxCallsPerMinute: number;
  readonly maxSessions: number;
  readonly defaultShell: string;
  readonly isolateHistory: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly scrollbackRows: number;
  readonly sweepAfterMs: number;
  readonly auditLogPath: string | undefined;
  readonly record: boolean;
  readonly recordSessions: boolean;
  readonly recordMaxBytes: number;
  /** The live view. */
  readonly web: {
    readonly enabled: boolean;
    readonly host: string;
    readonly port: number;
    readonly token: string | undefined;
    readonly canType: boolean;
  };
  /** Of the file: what in it is not used. */
  readonly notes: readonly string[];
}

export interface TerminalOptionSources {
  readonly settings: Settings;
  readonly currentDir: string;
  readonly homeDir: string;
}

const FILE = "terminal-control.toml";

/** From where a setting stands in the file to what it is called here. */
const KNOWN: Readonly<Record<string, keyof TerminalSettings>> = {
  "web.enabled": "web_enabled",
  "web.host": "web_host",
  "web.port": "web_port",
  "security.level": "level",
  "security.max_calls_per_minute": "max_calls_per_minute",
  "security.max_sessions": "max_sessions",
  "session.default_shell": "default_shell",
  "session.isolate_history": "isolate_history",
  "terminal.width": "columns",
  "terminal.height": "rows",
};

/**
 * The settings of section `terminal`, then the first `terminal-control.toml` in the current folder or `~/.config`, then
 * defaults. Throws `CONFIG_INVALID`, with the place, where the file cannot be used.
 */
export async function loadTerminalOptions(sources: TerminalOptionSources): Promise<LoadedTerminalOptions> {
  const { settings, currentDir, homeDir } = sources;
  const path = [join(currentDir, FILE), join(homeDir, ".config", FILE)].find((candidate) => existsSync(candidate));
  const file = path === undefined ? { values: {}, notes: [] } : await readFile(path);
  const found = { ...file.values, ...withoutAbsent(settings.terminal) };
  return {
    level: found.level ?? "high",
    backend: found.backend ?? "pty",
    maxCallsPerMinute: found.max_calls_per_minute ?? 60,
    maxSessions: found.max_sessions ?? 50,
    defaultShell: found.default_shell ?? "bash",
    isolateHistory: found.isolate_history ?? true,
    columns: found.columns ?? 120,
    rows: found.rows ?? 30,
    scrollbackRows: found.scrollback_rows ?? 2_000,
    sweepAfterMs: found.sweep_after_ms ?? 300_000,
    auditLogPath: settings.mcp.audit_log_path,
    record: found.record ?? true,
    recordSessions: found.record_sessions ?? false,
    recordMaxBytes: found.record_max_bytes ?? 16 * 1024 * 1024,
    web: {
      enabled: found.web_enabled ?? false,
      host: found.web_host ?? "127.0.0.1",
      port: found.web_port ?? 0,
      token: found.web_token,
      canType: found.web_input ?? false,
    },
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
  for (const [section, content] of Object.entries(await parseToml(path))) {
    for (const [key, value] of entriesOf(content)) {
      const name = Object.hasOwn(KNOWN, `${section}.${key}`) ? KNOWN[`${section}.${key}`] : undefined;
      if (name === undefined) notes.push(`${path}: ${key} in [${section}] is not used.`);
      else values[name] = name === "level" && typeof value === "string" ? value.toLowerCase() : value;
    }
  }
  return { values: await validate(values, path), notes };
}

async function parseToml(path: string): Promise<Record<string, unknown>> {
  const { parse } = await import("smol-toml");
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trimEnd() : String(cause);
    throw new PawlError("CONFIG_INVALID", { message: `${path} cannot be read: ${reason}`, cause });
  }
}

async function validate(values: Readonly<Record<string, unknown>>, path: string): Promise<TerminalSettings> {
  const { terminalSettingsSchema } = await import("./settings-schema.ts");
  const result = terminalSettingsSchema.safeParse(values);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path: [name], message }) => `${path}: ${placeOf(name)}: ${message}`);
  throw new PawlError("CONFIG_INVALID", { message: lines.join("\n"), details: lines });
}

function placeOf(name: PropertyKey | undefined): string {
  const place = Object.entries(KNOWN).find(([, known]) => known === name)?.[0] ?? String(name);
  const [section, key] = place.split(".");
  return `${key} in [${section}]`;
}

function entriesOf(content: unknown): [string, unknown][] {
  return typeof content === "object" && content !== null ? Object.entries(content) : [];
}

function withoutAbsent(settings: TerminalSettings): TerminalSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
