import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { type Play, startFakeModelServer } from "./fake-model-server.ts";
import { modelScriptSchema, playScript } from "./play-script.ts";
import { saidIn } from "./shown.ts";

/** `npm run fake-model -- [SCRIPT.yaml] [--port 8090] [--api-key KEY]`: a model provider to try things on. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: "string", default: "8090" }, "api-key": { type: "string" } },
});

const play = readPlay(positionals[0]);
if (play !== undefined) {
  const apiKey = values["api-key"];
  const server = await startFakeModelServer({
    replies: play,
    port: Number(values.port),
    ...(apiKey !== undefined && { apiKey }),
    onRequest: ({ api, model, shown }) => {
      const tools = shown.tools.map(({ name }) => name).join(", ");
      console.error(`${api} ${model}: ${JSON.stringify(saidIn(shown).at(-1) ?? "").slice(0, 200)} [${tools}]`);
    },
  });
  console.log(usage(server.url, apiKey ?? "any"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      server.close().catch(console.error);
    });
  }
}

/** Without a script every request is answered with what was said last. */
function readPlay(file: string | undefined): Play | undefined {
  if (file === undefined) return ({ shown }) => ({ do: "say", text: `You said: ${saidIn(shown).at(-1) ?? ""}` });
  const script = modelScriptSchema.safeParse(parse(readFileSync(file, "utf8")));
  if (script.success) return playScript(script.data);
  console.error(
    `${file} is no script:\n${script.error.issues.map(({ path, message }) => `  ${path.join(".")}: ${message}`).join("\n")}`,
  );
  process.exitCode = 2;
  return undefined;
}

function usage(url: string, key: string): string {
  return `A fake model answers at ${url} (Anthropic, OpenAI, Google). Ctrl-C ends it. In pawl.yaml:

models:
  default: fake:any
  providers:
    fake: { kind: anthropic, base_url: "${url}", api_key: ${key} }
    # or for OpenAI's chat API: { kind: openai-compatible, base_url: "${url}", api_key: ${key} }

Programs with the providers' own packages: ANTHROPIC_BASE_URL=${url.replace(/\/v1$/, "")} ANTHROPIC_API_KEY=${key}, or OPENAI_BASE_URL=${url} OPENAI_API_KEY=${key}.`;
}
