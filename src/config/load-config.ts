import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { PawlError } from "../core/errors/pawl-error.ts";
import { resolveEnv } from "../core/expressions/resolve-env.ts";
import { SECRET_NAME } from "../core/trust/secret-names.ts";
import { ALL_SETTINGS, DEFAULTS, type Settings } from "./settings.ts";

export interface ConfigSources {
  readonly appDir: string;
  /** By setting, e.g. `{"data.dir": {value: "/x", flag: "--data"}}`. */
  readonly flags: Readonly<Record<string, { readonly value: string; readonly flag: string }>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Config {
  readonly settings: Settings;
  /** By setting (`limits.max_output_bytes`). A setting that is missing here has its default. */
  readonly origins: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  /** A variable of the environment, or of the application's `.env`. Empty counts as unset. */
  env(name: string): string | undefined;
}

/**
 * Flags win over the environment, the environment over `.env`, `.env` over `pawl.yaml`, and that over defaults. Throws
 * `CONFIG_INVALID`, with the origin of each wrong value.
 */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const dotEnv = readDotEnv(join(sources.appDir, ".env"));
  const found = new Map<string, Found>();
  const file = join(sources.appDir, "pawl.yaml");
  if (existsSync(file)) await readConfigFile(file, found);
  readVariables(dotEnv, ".env", found);
  readVariables(sources.environment, "environment", found);
  for (const [setting, { value, flag }] of Object.entries(sources.flags)) found.set(setting, { value, origin: flag });

  const settings = found.size === 0 ? DEFAULTS : await validate(found);
  const env = (name: string) => sources.environment[name] || dotEnv[name] || undefined;
  return {
    settings,
    origins: new Map([...found].map(([setting, { origin }]) => [setting, origin])),
    secrets: [
      ...secretsOf(found),
      ...nestedSecrets(settings, env),
      ...allowedValues(settings, env),
      ...namedValues({ ...dotEnv, ...sources.environment }),
    ],
    env,
  };
}

interface Found {
  readonly value: unknown;
  readonly origin: string;
}

function readDotEnv(path: string): Readonly<Record<string, string | undefined>> {
  if (!existsSync(path)) return {};
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new PawlError("CONFIG_INVALID", { message: `${path} cannot be read.`, cause });
  }
}

function readVariables(
  variables: Readonly<Record<string, string | undefined>>,
  origin: string,
  found: Map<string, Found>,
): void {
  for (const setting of ALL_SETTINGS) {
    const name = setting.variables.find((candidate) => (variables[candidate] ?? "") !== "");
    if (name !== undefined) found.set(setting.path, { value: variables[name], origin: `${origin} ${name}` });
  }
}

async function readConfigFile(path: string, found: Map<string, Found>): Promise<void> {
  for (const [section, values] of entriesOf(await parseYaml(path), path)) {
    for (const [key, value] of entriesOf(values, `${path}: ${section}`))
      found.set(`${section}.${key}`, { value, origin: "pawl.yaml" });
  }
}

async function parseYaml(path: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(readFileSync(path, "utf8"), { maxAliasCount: 100 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : "";
    throw new PawlError("CONFIG_INVALID", { message: `${path} cannot be read: ${reason}`, cause });
  }
}

/** An empty section is `null` in YAML. */
function entriesOf(value: unknown, where: string): [string, unknown][] {
  if (value === null || value === undefined) return [];
  if (typeof value === "object" && !Array.isArray(value)) return Object.entries(value);
  throw new PawlError("CONFIG_INVALID", { message: `${where} must be a map of settings.` });
}

async function validate(found: ReadonlyMap<string, Found>): Promise<Settings> {
  const { settingsSchema } = await import("./settings-schema.ts");
  const result = settingsSchema.safeParse(toTree(found));
  if (result.success) return result.data;
  const { distance } = await import("fastest-levenshtein");
  const likely = (setting: string) => {
    const near = ALL_SETTINGS.find(({ path }) => distance(path, setting) <= 2);
    return near === undefined ? "" : `. Did you mean \`${near.path}\`?`;
  };
  const lines = result.error.issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [undefined];
    return keys.map((key) => {
      const setting = [...issue.path, ...(key === undefined ? [] : [key])].join(".");
      const origin = (found.get(setting) ?? found.get(setting.split(".", 2).join(".")))?.origin ?? "pawl.yaml";
      return `${setting} (${origin}): ${key === undefined ? issue.message : `no such setting${likely(setting)}`}`;
    });
  });
  const message = lines.length === 1 ? String(lines[0]) : `${lines.length} settings are wrong.`;
  // Each on a line of its own.
  const details = lines.length === 1 ? lines : { problems: lines.map((line) => `error CONFIG_INVALID ${line}`) };
  throw new PawlError("CONFIG_INVALID", { message, details });
}

/** Has every section, so that the schema's defaults apply inside it. */
function toTree(found: ReadonlyMap<string, Found>): Record<string, Record<string, unknown>> {
  const tree: Record<string, Record<string, unknown>> = {};
  for (const section of Object.keys(DEFAULTS)) tree[section] = {};
  for (const [setting, { value }] of found) {
    const dot = setting.indexOf(".");
    const section = setting.slice(0, dot);
    const values = Object.hasOwn(tree, section) ? tree[section] : undefined;
    tree[section] = { ...values, [setting.slice(dot + 1)]: value };
  }
  return tree;
}

function secretsOf(found: ReadonlyMap<string, Found>): string[] {
  return ALL_SETTINGS.filter(({ is }) => is === "secret").flatMap(({ path }) => {
    const value = found.get(path)?.value;
    return typeof value === "string" ? [value] : [];
  });
}

/** Keys, headers and variables of providers and servers whose names say that they are secret, and passwords in addresses. */
function nestedSecrets({ models, mcp, notify, storage, telemetry }: Settings, env: Config["env"]): string[] {
  const named = [
    ...Object.values(models.providers).map(({ api_key, headers }) => ({ ...headers, api_key })),
    ...Object.values(mcp.servers).map(({ headers, env: variables }) => ({ ...headers, ...variables })),
  ];
  const addresses = [
    ...Object.values(models.providers).map(({ base_url: url }) => url),
    ...Object.values(mcp.servers).map(({ url }) => url),
    notify.smtp_url,
    storage.endpoint,
  ];
  return [
    ...named.flatMap(Object.entries).flatMap(([name, value]: [string, string | undefined]) => {
      return value !== undefined && SECRET_NAME.test(name) ? withoutScheme(resolveEnv(value, env)) : [];
    }),
    ...(telemetry.otlp_headers ?? "")
      .split(",")
      .flatMap((pair) => withoutScheme(pair.split(/=(.*)/s)[1]?.trim() ?? "")),
    ...addresses.flatMap((url) => (url === undefined ? [] : secretsOfUrl(resolveEnv(url, env)))),
  ];
}

/** Hides `Bearer abc` and `abc`. */
function withoutScheme(value: string): string[] {
  const [, rest] = /^\S+ +(\S+)$/.exec(value) ?? [];
  return rest === undefined ? [value] : [value, rest];
}

/** The password before the host, and parameters whose names say that they are secret. */
function secretsOfUrl(text: string): string[] {
  const url = URL.parse(text);
  if (url === null) return [];
  const given = [...url.searchParams].filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value);
  return url.password === "" ? given : [...given, url.password, decodeURIComponent(url.password)];
}

/** Variables that terminal workflows may read, because screens show them, and those that `secrets.env` lists. */
function allowedValues({ terminal, secrets }: Settings, env: Config["env"]): string[] {
  return [...(terminal.env_allow ?? []), ...secrets.env].flatMap((name) => env(name) ?? []);
}

/** Variables whose names end in a word for a secret, except where the value is a path or a switch. */
function namedValues(variables: ConfigSources["environment"]): string[] {
  return Object.entries(variables).flatMap(([name, value = ""]) => {
    return SECRET_VARIABLE.test(name) && !NO_SECRET.test(value) ? [value] : [];
  });
}

const SECRET_VARIABLE = /(^|_)(\w*KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(_\d+)?$/i;
const NO_SECRET = /^(true|false|enabled|disabled|default|required|optional|[./~][\w./~-]*)$/i;
