import { randomBytes } from "node:crypto";
import { openEmbedded } from "../../support/embedded.ts";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

// Programs that share a database share what their secrets are sealed with.
process.env["PAWL_SECRETS__KEY"] ??= randomBytes(32).toString("hex");

export const open: OpenPeer = async ({ folder, postgresUrl }) => ({
  ...(await openEmbedded({ database: postgresUrl }, folder)),
  settings: () => showPostgres(postgresUrl),
});
