import { join } from "node:path";
import { BackendSqlite } from "openworkflow/sqlite";
import { openOpenWorkflow } from "../openworkflow.ts";
import type { OpenPeer } from "../peer.ts";

export const open: OpenPeer = async ({ folder }) => ({
  ...(await openOpenWorkflow(BackendSqlite.connect(join(folder, "openworkflow.db")))),
  settings: async () => "as it opens its file",
});
