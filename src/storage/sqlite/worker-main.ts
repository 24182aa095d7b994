import { parentPort, workerData } from "node:worker_threads";
import type { Journal } from "../../ports/journal.ts";
import type { SqliteOptions } from "./open-database.ts";
import { openSqliteJournal } from "./sqlite-journal.ts";
import { type Reply, type Request, toSentError } from "./worker-messages.ts";

/** The thread of a worker journal: opens the journal named in `workerData` and answers calls until it is closed. */
function main(): void {
  if (parentPort === null) throw new Error("This file is the main file of a worker.");
  const port = parentPort;
  const reply = (message: Reply) => port.postMessage(message);

  let journal: Journal;
  try {
    journal = openSqliteJournal(workerData as SqliteOptions);
  } catch (error) {
    reply({ type: "notOpened", error: toSentError(error) });
    return;
  }
  reply({ type: "opened", newestRun: journal.reserveRun() - 1 });

  port.on("message", async (request: Request) => {
    reply(await answer(journal, request));
    if (request.call === "close") port.close();
  });
}

async function answer(journal: Journal, { id, call, parameters }: Request): Promise<Reply> {
  try {
    const method = journal[call] as (...parameters: readonly unknown[]) => Promise<unknown>;
    return { type: "returned", id, value: await method(...parameters) };
  } catch (error) {
    return { type: "threw", id, error: toSentError(error) };
  }
}

main();
