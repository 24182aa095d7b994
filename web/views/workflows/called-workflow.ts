import type { PawlClient } from "pawl/client";
import type { ShownGraph, ShownStep } from "../../parts/graph/shown-graph.ts";

/** What a step calls, as it stands now: by its name, or by its file. Undefined where a run computes the name. */
export async function readCalled(client: PawlClient, { calls = "" }: ShownStep): Promise<ShownGraph | undefined> {
  const written = /^"(.*)"$/.exec(calls)?.[1];
  if (written === undefined) return undefined;
  const { items } = await client.call("GET /workflows", { limit: 200 });
  const file = written.replace(/^(?:\.{1,2}\/)+/, "");
  const found =
    items.find(({ name }) => name === written) ??
    items.find((each) => each.file === file || each.file?.endsWith(`/${file}`) === true);
  const { graph } = await client.call("GET /workflows/{name}", { name: found?.name ?? written });
  return graph ?? undefined;
}
