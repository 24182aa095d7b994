// Writes docs/settings.md from the table of settings. `--check` only says whether it is up to date.
import { readFile, writeFile } from "node:fs/promises";
import { ALL_SETTINGS, type NamedSetting } from "../src/config/settings.ts";

const path = new URL("../docs/settings.md", import.meta.url);
const text = renderSettingsDocs();

if (!process.argv.includes("--check")) await writeFile(path, text);
else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
  console.error("docs/settings.md is not up to date: run `node scripts/generate-settings-docs.ts`.");
  process.exitCode = 1;
}

function renderSettingsDocs(): string {
  const sections = Map.groupBy(ALL_SETTINGS, ({ section }) => section);
  return `# Settings

<!-- Made by scripts/generate-settings-docs.ts from src/config/settings-table.ts. Do not edit. -->

Flags win over the environment, the environment over \`.env\`, \`.env\` over \`pawl.yaml\` in the application, and that over the
defaults. In \`pawl.yaml\` a section is a map: \`server: {port: 9000}\`. In the environment a setting is \`PAWL_SECTION__KEY\`
(\`PAWL_SERVER__PORT=9000\`), or one of the names listed here; lists are separated by commas, maps are JSON. An empty variable
counts as unset. \`pawl config\` prints every value, \`pawl config --origin\` also where it comes from.
${[...sections].map(([section, settings]) => renderSection(section, settings)).join("")}`;
}

function renderSection(section: string, settings: readonly NamedSetting[]): string {
  const rows = settings.map((setting) => `| \`${setting.key}\` | ${describe(setting)} | ${defaultOf(setting)} |`);
  return `
## ${section}

| setting | what it is | default |
|---|---|---|
${rows.join("\n")}
`;
}

function describe({ is, says, env, toml, later }: NamedSetting): string {
  const options = typeof is === "string" ? [] : is.filter((option) => !says.includes(`\`${option}\``));
  const parts = [
    says,
    options.length === 0 ? "" : `One of ${(typeof is === "string" ? [] : is).map(code).join(", ")}.`,
    is === "secret" ? "Secret." : "",
    env === undefined ? "" : `In the environment also ${env.map(code).join(", ")}.`,
    toml === undefined ? "" : `In \`terminal-control.toml\`: ${code(toml)}.`,
    later === undefined ? "" : `Not used yet: ${later.charAt(0).toLowerCase()}${later.slice(1)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function defaultOf({ default: value = undefined, fallback = value }: NamedSetting): string {
  if (fallback === undefined || (typeof fallback === "object" && Object.keys(fallback ?? {}).length === 0)) return "";
  return code(String(fallback));
}

function code(text: string): string {
  return `\`${text}\``;
}
