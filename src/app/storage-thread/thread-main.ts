import { parentPort, workerData } from "node:worker_threads";
import { openJournalWriter } from "../../storage/sqlite/sqlite-journal.ts";
import { once } from "../once.ts";
import { openConversations, openServiceRecords } from "../open-service-records.ts";
import { type ThreadCall, type ThreadFiles, type ThreadReply, toSentError } from "./messages.ts";

/** Writes what `storage-thread.ts` is asked to write. Each file is opened when it is first written. */
const files = workerData as ThreadFiles;
const { durability } = files;
const journal = once(async () => openJournalWriter({ path: files.journal, durability }));
const records = once(async () => openServiceRecords({ path: files.service, durability }));
const conversations = once(async () => openConversations({ path: files.conversations, durability: "power" }));

function targetOf(of: ThreadCall["of"]): Promise<object> {
  if (of === "journal") return journal();
  return of === "conversations" ? conversations() : records().then((opened) => opened[of]);
}

async function perform({ id, of, method, parameters }: ThreadCall): Promise<ThreadReply> {
  try {
    const target = await targetOf(of);
    const write: unknown = Reflect.get(target, method, target);
    if (typeof write !== "function") throw new Error(`${of}.${method} is no call.`);
    return { id, value: await Reflect.apply(write, target, parameters) };
  } catch (error) {
    return { id, failure: toSentError(error) };
  }
}

async function close(): Promise<void> {
  await journal.close((open) => open.close());
  await records.close((open) => open.close());
  await conversations.close((open) => open.close());
  parentPort?.close();
}

parentPort?.on("message", (call: ThreadCall | "close") => {
  if (call === "close") void close();
  else void perform(call).then((reply) => parentPort?.postMessage(reply));
});
