import { openHost, register } from "../../../test/restate/open-host.ts";
import { findFreePort } from "../../../test/support/free-port.ts";
import { fanOut, noOp, sequence } from "../../support/no-op-host.ts";
import { openWorkbench } from "../../support/workbench.ts";
import type { OpenPeer } from "../peer.ts";
import { runOn } from "./pawl-postgres.ts";

/** The records are written as a server writes them: in a thread. */
export const open: OpenPeer = async ({ restate: { ingress, admin } }) => {
  const { journal, folder } = await openWorkbench({ inThread: true });
  const port = await findFreePort();
  const place = { folder, port, ingressUrl: ingress, adminUrl: admin, journal };
  const { host, close } = await openHost(place, noOp());
  await register(place, port);
  return {
    sequence: (steps) => runOn(host, sequence(steps)),
    fanOut: (steps) => runOn(host, fanOut(steps)),
    settings: async () => "as it is started without settings; synchronous=FULL",
    close,
  };
};
