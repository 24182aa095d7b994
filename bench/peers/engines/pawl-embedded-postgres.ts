import { openEmbedded } from "../../support/embedded.ts";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

export const open: OpenPeer = async ({ folder, postgresUrl }) => ({
  ...(await openEmbedded({ database: postgresUrl }, folder)),
  settings: () => showPostgres(postgresUrl),
});
