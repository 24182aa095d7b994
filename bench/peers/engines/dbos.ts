import { DBOS } from "@dbos-inc/dbos-sdk";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

const nothing = async () => true;

export const open: OpenPeer = async ({ postgresUrl }) => {
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: postgresUrl, logLevel: "error", runAdminServer: false });
  const sequence = DBOS.registerWorkflow(
    async (steps: number) => {
      for (let n = 0; n < steps; n += 1) await DBOS.runStep(nothing, { name: `s${n}` });
    },
    { name: "sequence" },
  );
  const fanOut = DBOS.registerWorkflow(
    async (steps: number) => {
      await Promise.all(Array.from({ length: steps }, (_, n) => DBOS.runStep(nothing, { name: `s${n}` })));
      await DBOS.runStep(nothing, { name: "join" });
    },
    { name: "fanOut" },
  );
  await DBOS.launch();
  return {
    sequence: (steps) => sequence(steps),
    fanOut: (steps) => fanOut(steps),
    settings: () => showPostgres(postgresUrl),
    close: () => DBOS.shutdown(),
  };
};
