import type { Operation, Word } from "../../../operations/operation.ts";
import { loadTopic } from "../../../operations/operations.ts";
import { listedBy } from "../../../operations/schemas.ts";
import { HereCaller } from "../call-here.ts";
import type { CommonOptions, OpenApp } from "../cli-context.ts";
import { io } from "../process-io.ts";
import { chooseServer } from "../remote/choose-server.ts";
import { Voice } from "../voice.ts";
import { toOpenOptions } from "../with-app.ts";

/** The verb that lists what an argument of a verb stands for. Undefined: none does. */
export async function listOf(verb: string, argument: string): Promise<string | undefined> {
  const operations = (await operationsAt(verb)).filter((each) => verbsOf(each).includes(verb));
  const fields = operations.flatMap(({ input }) => input.shape[argument] ?? []);
  return fields.map(listedBy).find((list) => list !== undefined);
}

/** What such a verb lists, as other verbs take it, newest first where the list has a page. Nobody becomes the owner of the data for it. */
export async function readList(
  verb: string,
  given: Readonly<Record<string, string>>,
  openApp: OpenApp,
): Promise<readonly Word[]> {
  const list = (await operationsAt(verb)).find((each) => each.word !== undefined && verbsOf(each).includes(verb));
  if (list === undefined) return [];
  const { items } = (await callFor(list, { app: ".", ...given }, openApp)) as { readonly items: readonly never[] };
  return items.flatMap((item) => list.word?.(item) ?? []);
}

async function operationsAt(verb: string): Promise<readonly Operation[]> {
  return (await loadTopic(verb.split(" ")[0] ?? "")) ?? [];
}

function verbsOf({ cli }: Operation): readonly string[] {
  if ("no" in cli) return [];
  return "byHand" in cli ? cli.byHand : cli.map(({ verb }) => verb);
}

async function callFor(list: Operation, options: CommonOptions, openApp: OpenApp): Promise<unknown> {
  const page = "limit" in list.input.shape ? { limit: PAGE } : {};
  const server = chooseServer(options, io().env);
  if (server !== undefined && !("no" in list.http)) {
    const { createPawlClient } = await import("../../../client/pawl-client.ts");
    // A shell waits for the answer.
    const soon: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(SERVER_TIME_MS) });
    return createPawlClient({ ...server, fetch: soon }).send(`${list.http.method} ${list.http.path}`, page);
  }
  const silent = { tell: () => undefined, onDefect: () => undefined };
  const app = await openApp({ ...toOpenOptions(options, new Voice()), ...silent, makesNothing: true });
  try {
    return await new HereCaller(app, { starts: "here" }).call(list, page);
  } finally {
    await app.close();
  }
}

const PAGE = 100;
const SERVER_TIME_MS = 2_000;
