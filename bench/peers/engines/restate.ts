import * as restate from "@restatedev/restate-sdk";
import { findFreePort } from "../../../test/support/free-port.ts";
import type { OpenPeer } from "../peer.ts";

const nothing = async () => true;

const bench = restate.service({
  name: "bench",
  handlers: {
    async sequence(ctx: restate.Context, steps: number) {
      for (let n = 0; n < steps; n += 1) await ctx.run(`s${n}`, nothing);
    },
    async fanOut(ctx: restate.Context, steps: number) {
      await restate.RestatePromise.all(Array.from({ length: steps }, (_, n) => ctx.run(`s${n}`, nothing)));
      await ctx.run("join", nothing);
    },
  },
});

export const open: OpenPeer = async ({ restate: { ingress, admin } }) => {
  const port = await findFreePort();
  await restate.serve({ services: [bench], port });
  await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}`, force: true });
  return {
    sequence: (steps) => post(`${ingress}/bench/sequence`, steps),
    fanOut: (steps) => post(`${ingress}/bench/fanOut`, steps),
    settings: async () => "as it is started without settings",
    close: async () => undefined,
  };
};

async function post(url: string, body: unknown): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
}
