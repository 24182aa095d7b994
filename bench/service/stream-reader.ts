import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

/** What a reader has been told of a run, and when the end came. */
export interface FollowedRun {
  readonly ids: readonly string[];
  /** From then on it is told what happens when it happens. */
  readonly openedAt: number;
  readonly endedAt: number;
}

/** Follows a run to its end. */
export async function followStream(url: string, runId: string): Promise<FollowedRun> {
  // A connection of its own, as readers have: one that is kept may be ended by the server just when it is used again.
  const request = get(`${url}/runs/${runId}/stream`, { agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`The stream of ${runId} answers ${response.statusCode}.`);
  const openedAt = Date.now();
  const ids: string[] = [];
  let endedAt = 0;
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("id: ")) ids.push(line.slice(4));
      if (line === "event: end") endedAt = Date.now();
    }
  }
  if (endedAt === 0) throw new Error(`The stream of ${runId} has no end.`);
  return { ids, openedAt, endedAt };
}
