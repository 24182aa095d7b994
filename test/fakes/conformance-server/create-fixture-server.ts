import { createRequestStateCodec, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { ASKING_TOOLS } from "./asking-tools.ts";
import { CONTENT_TOOLS } from "./content-tools.ts";
import { addFixturePrompts } from "./fixture-prompts.ts";
import { addFixtureResources } from "./fixture-resources.ts";

const TOOLS = [...CONTENT_TOOLS, ...ASKING_TOOLS];

/** One key for all requests of a process: each of them has a server of its own. */
export type RequestStates = ReturnType<typeof createRequestStateCodec<string>>;

/** What the official conformance runner expects to find behind the transport that it tests. */
export function createFixtureServer(states: RequestStates): Server {
  const server = new Server(
    { name: "pawl-conformance-fixture", version: "1.0.0" },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS.map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = TOOLS.find(({ listed }) => listed.name === params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No tool "${params.name}".`);
    return tool.call({ args: params.arguments ?? {}, token: params._meta?.progressToken, context, states });
  });
  server.setRequestHandler("completion/complete", () => ({ completion: { values: ["paris", "park"], total: 2 } }));
  server.setRequestHandler("logging/setLevel", () => ({}));
  addFixtureResources(server);
  addFixturePrompts(server);
  return server;
}

export function createRequestStates(): RequestStates {
  return createRequestStateCodec<string>({ key: crypto.getRandomValues(new Uint8Array(32)) });
}
