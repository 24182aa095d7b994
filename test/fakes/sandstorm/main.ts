import { parseArgs } from "node:util";
import { type Play, startFakeSandstorm } from "./fake-sandstorm.ts";
import { SCENARIOS } from "./scenarios.ts";
import { createSimulatedPlay } from "./simulated-play.ts";

/** `npm run fake-sandstorm -- [--port 8000] [--scenario NAME] [--api-key KEY] [--delay FACTOR]`: a server to try things on. */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8000" },
    scenario: { type: "string" },
    "api-key": { type: "string" },
    delay: { type: "string", default: "1" },
  },
});

const play = choosePlay(values.scenario, Number(values.delay));
if (play === undefined) {
  console.error(
    `There is no scenario "${values.scenario}". There are:\n${Object.keys(SCENARIOS)
      .map((name) => `  ${name}\n`)
      .join("")}`,
  );
  process.exitCode = 2;
} else {
  const apiKey = values["api-key"];
  const server = await startFakeSandstorm({ play, port: Number(values.port), ...(apiKey !== undefined && { apiKey }) });
  console.log(`A fake Sandstorm server answers at ${server.url}. Point SANDSTORM_URL at it; Ctrl-C ends it.`);
  process.once("SIGINT", () => {
    server.close().catch(console.error);
  });
}

function choosePlay(scenario: string | undefined, delayFactor: number): Play | undefined {
  if (scenario === undefined) return createSimulatedPlay({ delayFactor });
  return Object.entries(SCENARIOS).find(([name]) => name === scenario)?.[1];
}
