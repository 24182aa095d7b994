import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ConfigSources, loadConfig } from "./load-config.ts";
import { DEFAULTS } from "./settings.ts";
import { settingsSchema } from "./settings-schema.ts";

/** The example of the published service, as people copied it. */
const DOT_ENV_EXAMPLE = `# Sandstorm connection
SANDSTORM_URL=http://localhost:8000
ANTHROPIC_API_KEY=sk-ant-...
E2B_API_KEY=e2b_...

DATABASE_URL=postgresql+asyncpg://sandcastle:sandcastle@localhost:5432/sandcastle
REDIS_URL=redis://localhost:6379/0

STORAGE_BACKEND=s3
STORAGE_BUCKET=sandcastle-data
STORAGE_ENDPOINT=http://localhost:9000
AWS_ACCESS_KEY_ID=minioadmin
AWS_SECRET_ACCESS_KEY=minioadmin

WEBHOOK_SECRET=your-webhook-signing-secret

LOG_LEVEL=info
`;

function load(files: Readonly<Record<string, string>>, rest: Partial<ConfigSources> = {}) {
  const appDir = mkdtempSync(join(tmpdir(), "pawl-config-"));
  onTestFinished(() => rmSync(appDir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(appDir, name), text);
  return loadConfig({ appDir, flags: {}, environment: {}, ...rest });
}

test("the schema's defaults are the ones that are used without it", () => {
  const sections = Object.fromEntries(Object.keys(DEFAULTS).map((section) => [section, {}]));
  expect(settingsSchema.parse(sections)).toEqual(DEFAULTS);
});

test("nothing configured is the defaults", async () => {
  const { settings, origins } = await load({});
  expect(settings).toEqual(DEFAULTS);
  expect(origins.size).toBe(0);
});

test("flags go before the environment, that before .env, that before pawl.yaml", async () => {
  const files = {
    "pawl.yaml": "data: {dir: d1}\nagent: {sandstorm_url: u1, idle_timeout_ms: 1}\n",
    ".env": "SANDSTORM_URL=u2\nPAWL_DATA=d2\n",
  };
  const environment = { PAWL_DATA: "d3" };
  const { settings, origins } = await load(files, {
    environment,
    flags: { "data.dir": { value: "d4", flag: "--data" } },
  });

  expect(settings.data.dir).toBe("d4");
  expect(settings.agent).toMatchObject({ sandstorm_url: "u2", idle_timeout_ms: 1 });
  expect(Object.fromEntries(origins)).toEqual({
    "data.dir": "--data",
    "agent.sandstorm_url": ".env SANDSTORM_URL",
    "agent.idle_timeout_ms": "pawl.yaml",
  });
});

test("PAWL_SECTION__KEY goes before the other name of a setting, and numbers may be texts", async () => {
  const environment = {
    PAWL_AGENT__SANDSTORM_URL: "ours",
    SANDSTORM_URL: "theirs",
    PAWL_AGENT__IDLE_TIMEOUT_MS: "5000",
  };
  const { settings } = await load({}, { environment });
  expect(settings.agent).toMatchObject({ sandstorm_url: "ours", idle_timeout_ms: 5_000 });
});

test("an empty variable is not set", async () => {
  const { settings, env } = await load({ ".env": "SANDSTORM_URL=from-file\n" }, { environment: { SANDSTORM_URL: "" } });
  expect(settings.agent.sandstorm_url).toBe("from-file");
  expect(env("SANDSTORM_URL")).toBe("from-file");
});

test("the published .env.example, copied unchanged, works", async () => {
  const { settings, secrets } = await load({ ".env": DOT_ENV_EXAMPLE });
  expect(settings.agent.sandstorm_url).toBe("http://localhost:8000");
  expect(settings.storage).toMatchObject({ backend: "s3", bucket: "sandcastle-data" });
  expect(settings.database.url).toBe("postgresql+asyncpg://sandcastle:sandcastle@localhost:5432/sandcastle");
  expect(secrets).toContain("minioadmin");
});

const wrong: readonly { readonly name: string; readonly files: Record<string, string>; readonly says: string }[] = [
  { name: "a wrong value", files: { "pawl.yaml": "data: {durability: maybe}" }, says: "data.durability (pawl.yaml)" },
  { name: "a wrong variable", files: { ".env": "LOG_LEVEL=loud" }, says: "log.level (.env LOG_LEVEL)" },
  {
    name: "an unknown setting",
    files: { "pawl.yaml": "agent: {sandstrom_url: x}" },
    says: "agent.sandstrom_url (pawl.yaml): no such setting",
  },
  { name: "an unknown section", files: { "pawl.yaml": "agnet: {x: 1}" }, says: "agnet" },
  { name: "a section that is no map", files: { "pawl.yaml": "agent: fast" }, says: "must be a map" },
  { name: "YAML that cannot be read", files: { "pawl.yaml": "agent: [" }, says: "pawl.yaml cannot be read" },
  { name: "a name with a slash", files: { "pawl.yaml": "restate: {service: a/b}" }, says: "begins with a letter" },
  { name: "a name from the language itself", files: { "pawl.yaml": "__proto__: {x: 1}" }, says: "no such setting" },
];

test.each(wrong)("$name is refused, with where it comes from", async ({ files, says }) => {
  await expect(load(files)).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(says) });
});
