// An MCP server over stdio on the official package: the weather, made up but always the same.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const KNOWN = {
  london: { celsius: 15, sky: "overcast", wind: 18 },
  paris: { celsius: 18, sky: "light rain", wind: 12 },
  tokyo: { celsius: 24, sky: "clear", wind: 8 },
};

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

serveStdio(() => {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  server.registerTool(
    "weather_lookup",
    {
      description: "Looks up the weather of a city now.",
      inputSchema: z.object({ location: z.string().min(1), units: z.enum(["metric", "imperial"]).default("metric") }),
      annotations: READ_ONLY,
    },
    async ({ location, units }) => text(describe(location, units)),
  );
  server.registerTool(
    "weather_cities",
    { description: "Lists the cities whose weather is known.", annotations: READ_ONLY },
    async () => text(Object.keys(KNOWN).join(", ")),
  );
  return server;
});

function describe(location, units) {
  const name = location.trim().toLowerCase();
  if (!Object.hasOwn(KNOWN, name)) return `Nothing is known about the weather in ${location}.`;
  const { celsius, sky, wind } = KNOWN[name];
  const degrees = units === "metric" ? `${celsius} °C` : `${Math.round(celsius * 1.8 + 32)} °F`;
  return `${location}: ${degrees}, ${sky}, wind ${wind} km/h`;
}

function text(said) {
  return { content: [{ type: "text", text: said }] };
}
