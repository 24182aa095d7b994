import type { Operation } from "./operation.ts";

/**
 * The topics of operations, in the order of the documents. Each names the first words of its verbs, so that a command line
 * loads the topic that it is about and no other.
 */
const TOPICS = [
  { words: [], load: () => import("./start/submissions.ts") },
  { words: ["workflows"], load: () => import("./workflows/workflows.ts") },
  { words: [], load: () => import("./definitions/definitions.ts") },
  { words: [], load: () => import("./plan/plans.ts") },
  { words: ["runs"], load: () => import("./runs/runs.ts") },
  { words: ["runs"], load: () => import("./runs/follow/follow-runs.ts") },
  { words: ["runs"], load: () => import("./runs/steer-runs.ts") },
  { words: ["runs"], load: () => import("./repeat/repetitions.ts") },
  { words: ["runs", "approvals", "approve", "reject", "skip"], load: () => import("./approvals/approvals.ts") },
  { words: ["dead-letter"], load: () => import("./dead-letters/dead-letters.ts") },
  { words: ["budgets"], load: () => import("./costs/budgets.ts") },
  { words: ["costs"], load: () => import("./costs/costs.ts") },
  { words: ["violations"], load: () => import("./runs/violations.ts") },
  { words: ["schedules"], load: () => import("./schedules/schedules.ts") },
  { words: ["keys"], load: () => import("./keys/keys.ts") },
  { words: ["storage"], load: () => import("./storage/storage.ts") },
  { words: ["init"], load: () => import("./templates/templates.ts") },
  { words: ["webhooks"], load: () => import("./webhooks/webhooks.ts") },
  { words: ["agents"], load: () => import("./agents/agents.ts") },
  { words: ["prompt"], load: () => import("./start/parts.ts") },
  { words: ["terminals"], load: () => import("./terminals/terminals.ts") },
  { words: ["doctor", "config"], load: () => import("./service/service.ts") },
] as const;

type TopicOperations = Awaited<ReturnType<(typeof TOPICS)[number]["load"]>>;

/** The type of each operation, for who infers more from it. */
export type AnyOperation = OperationsOf<TopicOperations>;

type OperationsOf<Topic> = Topic extends unknown ? Topic[keyof Topic] : never;

/** Every operation. */
export function loadOperations(): Promise<readonly Operation[]> {
  return loadAll(TOPICS);
}

/** The operations whose verbs begin with this word. Undefined: there are none. */
export async function loadTopic(word: string): Promise<readonly Operation[] | undefined> {
  const topics = TOPICS.filter(({ words }) => words.some((each: string) => each === word));
  return topics.length === 0 ? undefined : loadAll(topics);
}

async function loadAll(topics: readonly { load(): Promise<object> }[]): Promise<readonly Operation[]> {
  const loaded = await Promise.all(topics.map(({ load }) => load()));
  // A topic exports its operations, and nothing else.
  return loaded.flatMap((topic) => Object.values(topic) as Operation[]);
}
