import { type Comparison, compare } from "../support/compare.ts";
import { postAll } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";

const REQUESTS = 2_000;
const CONNECTIONS = 200;
const ROUTE = `workflowId: echo
trigger: { type: http, config: { pathPattern: /echo, method: POST } }
startAt: answer
steps:
  answer:
    type: control
    subtype: formatResponse
    resultType: httpResponse
    data: { statusCode: 200, body: { ok: "true" } }
`;

/** A route of an application that answers at once, whose run is durable, beside three that are plainer. Processor time of the server, not of the clients. */
export async function benchRoutes(rounds: number): Promise<Comparison[]> {
  const files = { "workflows/echo.yaml": ROUTE };
  const [bare, row, pawl] = await Promise.all([ServerProcess.bare(), ServerProcess.floor(), ServerProcess.pawl(files)]);
  const ask = (server: ServerProcess, method: "GET" | undefined, path: string, status: number) => async () => {
    const before = await server.usage("processor");
    await postAll(server.url, {
      ...(method && { method }),
      path,
      status,
      count: REQUESTS,
      atOnce: CONNECTIONS,
      body: (n) => (method === undefined ? `{"n":${n}}` : ""),
    });
    return (await server.usage("processor")).cpuMs - before.cpuMs;
  };
  const floors = [
    ["bare node:http, nothing kept", ask(bare, undefined, "/echo", 200)],
    ["bare Hono, one durable row", ask(row, undefined, "/workflows/run", 202)],
    ["GET /healthz of the same server", ask(pawl, "GET", "/healthz", 200)],
  ] as const;
  const results: Comparison[] = [];
  for (const [floorName, floor] of floors) {
    const ours = ask(pawl, undefined, "/echo", 200);
    results.push(
      await compare({
        name: `${REQUESTS} answers of a route, ${CONNECTIONS} connections, processor time`,
        floorName,
        target: 2,
        rounds,
        floor,
        ours,
      }),
    );
  }
  await Promise.all([bare, row, pawl].map((server) => server.stop()));
  return results;
}
