import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OwnerClient } from "../../../src/app/owner/owner-client.ts";

/** What the workflow waits for, and what it gets. */
export const SIGNAL = { name: "go-Ada", payload: { by: "the test" } };

/** Sends it over the socket of the process that drives the run. False: that is not there yet, or not any more. */
export async function sendGo(dataDir: string, runId: string): Promise<boolean> {
  try {
    const { socket } = JSON.parse(readFileSync(join(dataDir, "lock.json"), "utf8")) as { readonly socket: string };
    const host = await OwnerClient.connect(socket);
    await host.request(runId, { type: "signal", name: SIGNAL.name, payload: SIGNAL.payload });
    await host.park();
    return true;
  } catch {
    return false;
  }
}
