import type { Operation } from "./operation.ts";

/**
 * The topics of operations, in the order of the documents. Each names the first words of its verbs, so that a command line
 * loads the topic that it is about and no other.
 */
const TOPICS = [{ words: ["schedules"], load: () => import("./schedules/schedules.ts") }] as const;

type TopicOperations = Awaited<ReturnType<(typeof TOPICS)[number]["load"]>>;

/** The type of each operation, for who infers more from it. */
export type AnyOperation = TopicOperations extends infer Topic ? Topic[keyof Topic] : never;

/** Every operation. */
export function loadOperations(): Promise<readonly Operation[]> {
  return loadAll(TOPICS);
}

/** The operations whose verbs begin with this word. Undefined: there are none. */
export async function loadTopic(word: string): Promise<readonly Operation[] | undefined> {
  const topics = TOPICS.filter(({ words }) => words.some((each) => each === word));
  return topics.length === 0 ? undefined : loadAll(topics);
}

async function loadAll(topics: readonly { load(): Promise<object> }[]): Promise<readonly Operation[]> {
  const loaded = await Promise.all(topics.map(({ load }) => load()));
  // A topic exports its operations, and nothing else.
  return loaded.flatMap((topic) => Object.values(topic) as Operation[]);
}
