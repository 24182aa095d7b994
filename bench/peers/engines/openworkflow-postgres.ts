import { BackendPostgres } from "openworkflow/postgres";
import { openOpenWorkflow } from "../openworkflow.ts";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

export const open: OpenPeer = async ({ postgresUrl }) => ({
  ...(await openOpenWorkflow(await BackendPostgres.connect(postgresUrl))),
  settings: () => showPostgres(postgresUrl),
});
