import { PgBoss } from "pg-boss";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

/** It has jobs, not runs: a step is sent, fetched and completed. Its own workers would look once in half a second for each. */
export const open: OpenPeer = async ({ postgresUrl }) => {
  const boss = new PgBoss({ connectionString: postgresUrl, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue("steps");
  const step = async () => {
    await boss.send("steps", {});
    const [job] = await boss.fetch("steps");
    if (job === undefined) throw new Error("There was no job.");
    await boss.complete("steps", job.id);
  };
  return {
    async sequence(steps) {
      for (let n = 0; n < steps; n += 1) await step();
    },
    async fanOut(steps) {
      await boss.insert(
        "steps",
        Array.from({ length: steps }, () => ({ data: {} })),
      );
      const jobs = await boss.fetch("steps", { batchSize: steps });
      await boss.complete(
        "steps",
        jobs.map(({ id }) => id),
      );
      await step();
    },
    settings: () => showPostgres(postgresUrl),
    close: () => boss.stop({ graceful: false }),
  };
};
