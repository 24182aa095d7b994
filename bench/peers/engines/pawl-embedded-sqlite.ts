import { join } from "node:path";
import { openEmbedded } from "../../support/embedded.ts";
import type { OpenPeer } from "../peer.ts";

export const open: OpenPeer = async ({ folder }) => ({
  ...(await openEmbedded({ data: join(folder, "data") }, folder)),
  settings: async () => "data.durability=power: synchronous=FULL",
});
