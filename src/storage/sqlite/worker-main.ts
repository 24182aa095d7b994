import { parentPort, workerData } from "node:worker_threads";
import type { SqliteOptions } from "./open-database.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { type Reply, type Request, toSentError } from "./worker-messages.ts";

/** The thread of a `WorkerJournal`: opens the journal named in `workerData` and answers calls until it is closed. */
function main(): void {
  if (parentPort === null) throw new Error("This file is the main file of a worker.");
  const port = parentPort;
  const reply = (message: Reply) => port.postMessage(message);

  let journal: SqliteJournal;
  try {
    journal = SqliteJournal.open(workerData as SqliteOptions);
  } catch (error) {
    reply({ type: "notOpened", error: toSentError(error) });
    return;
  }
  reply({ type: "opened", newestRun: journal.reserveRun() - 1 });

  port.on("message", async (request: Request) => {
    reply(await answer(journal, request));
    if (request.method === "close") port.close();
  });
}

async function answer(journal: SqliteJournal, { id, method, parameters }: Request): Promise<Reply> {
  try {
    const call = journal[method] as (...parameters: readonly unknown[]) => Promise<unknown>;
    return { type: "returned", id, value: await call.apply(journal, [...parameters]) };
  } catch (error) {
    return { type: "threw", id, error: toSentError(error) };
  }
}

main();
