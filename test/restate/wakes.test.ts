import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { expect, onTestFinished, test } from "vitest";
import { RestateApi } from "../../src/hosts/restate/restate-api.ts";
import { createRunWorkflow } from "../../src/hosts/restate/run-workflow.ts";
import { rounds } from "../properties/rounds.ts";
import { RestateServer } from "../support/restate-server.ts";

const RUNS = rounds(5);
const SERVICE = "wakes";
const WAIT_MS = 60;

/** What is done in the meantime for this process waits for it: the calls of two handlers, which it then answers at once. */
function stallFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("what is asked of a run in the moment when its time comes is looked at, however busy its process is", async () => {
  const server = await RestateServer.open();
  onTestFinished(() => server.remove());
  const { ingressUrl, adminUrl } = server;
  const api = new RestateApi({ ingressUrl, adminUrl, service: SERVICE, maxEntries: 10, failed: console.error });
  onTestFinished(() => api.close());
  const asked = new Set<string>();
  const begun = new Set<string>();
  const ended = new Set<string>();
  const askSoon = (runId: string) =>
    setTimeout(() => {
      asked.add(runId);
      api.wake(runId);
      setTimeout(stallFor, WAIT_MS / 6, 3 * WAIT_MS);
    }, WAIT_MS / 2);
  const workflow = createRunWorkflow(
    {
      // Each run waits for a time, then for nothing but being asked.
      async next({ runId }, { isWoken }) {
        if (isWoken && asked.has(runId)) return { type: "ended" };
        if (begun.has(runId)) return { type: "waits" };
        begun.add(runId);
        askSoon(runId);
        return { type: "waits", forMs: WAIT_MS };
      },
      async confirm({ runId }, { type }) {
        if (type === "ended") ended.add(runId);
      },
    },
    { service: SERVICE },
  );
  const endpoint = createServer(createEndpointHandler({ services: [workflow], logger: () => undefined }));
  onTestFinished(() => void endpoint.close());
  await once(endpoint.listen(0, "127.0.0.1"), "listening");
  await api.register(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`);
  for (let n = 0; n < RUNS; n += 1) {
    api.start(`run-${n}`);
    await expect.poll(() => ended.has(`run-${n}`), { interval: 5 }).toBe(true);
  }
});
