import type { OpenApplication } from "../../../operations/application/ports.ts";
import { tell } from "../print.ts";
import { listenForStop } from "../stop-signals.ts";

/**
 * `pawl own`, which nobody types: the background process of `--detach`. Says to its parent how the owner is reached,
 * itself or whoever was first, and drives runs as long as there are some.
 */
export async function own(app: OpenApplication): Promise<number> {
  const signals = listenForStop();
  const host = await app.host();
  await answerParent({ pid: host.ownerPid, socket: host.ownerSocket });
  if (host.role === "owner") {
    tell(`${new Date().toISOString()} process ${process.pid} drives the runs of ${app.dataDir}`);
    await app.serve(signals.stop);
    tell(`${new Date().toISOString()} process ${process.pid} is not needed any more`);
  }
  await app.park(signals.force);
  signals.close();
  return 0;
}

async function answerParent(owner: { readonly pid: number; readonly socket: string }): Promise<void> {
  if (process.send === undefined) return;
  await new Promise<void>((resolve) => process.send?.(owner, () => resolve()));
  if (process.connected) process.disconnect();
}
