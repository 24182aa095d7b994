import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type FakeModelOptions,
  type FakeModelServer,
  startFakeModelServer,
} from "../../fakes/model-server/fake-model-server.ts";
import { type ModelScript, playScript } from "../../fakes/model-server/play-script.ts";
import { application } from "../support/application.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

export const EXAMPLE = join(REPOSITORY, "examples", "agents");

export const WORKFLOW = "Weather then planning";

export const FINAL = "The plan is saved: the Louvre, then a café.";

/** Two turns of each agent: one that asks for a tool, one that says what came of it. */
export const WEATHER_AND_PLAN: ModelScript["turns"] = [
  {
    when: { system: "weather with your tools", results: 0 },
    call: { name: "weather_lookup", input: { location: "Paris" } },
  },
  { when: { system: "weather with your tools", last: "18 °C" }, say: "It is 18 °C in Paris, with light rain." },
  {
    when: { system: "short plan", results: 0, last: "18 °C in Paris" },
    say: "I save the plan.",
    call: [
      { name: "save_plan", input: { name: "paris", content: "The Louvre, then a café." } },
      { name: "list_plans" },
    ],
  },
  { when: { system: "short plan", last: "is saved" }, say: FINAL },
];

export interface WeatherApplication {
  readonly folder: string;
  readonly model: FakeModelServer;
}

/** The example `examples/agents`, asking a model server that says what the script says, through a provider's own package. */
export async function weatherApplication(
  options: {
    readonly replies?: FakeModelOptions["replies"];
    readonly kind?: "anthropic" | "openai-compatible";
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<WeatherApplication> {
  const { replies = playScript({ turns: WEATHER_AND_PLAN }), kind = "anthropic", files = {} } = options;
  const model = await startFakeModelServer({ replies });
  onTestFinished(() => model.close());
  const folder = application(files);
  const isNoData = (path: string) => !path.endsWith(".pawl");
  cpSync(EXAMPLE, folder, { recursive: true, filter: isNoData });
  // The weather server uses the official package.
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  const provider = { kind, base_url: model.url, api_key: "any" };
  const models = { aliases: { "claude-haiku-4-5": "fake:haiku" }, providers: { fake: provider } };
  writeFileSync(join(folder, "pawl.yaml"), JSON.stringify({ models }));
  return { folder, model };
}
