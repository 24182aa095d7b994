import type { Operation } from "./operation.ts";

/**
 * The files of operations, in the order of the documents. Each names the first words of its verbs, so that a command line
 * loads what it is about and no more.
 */
const TOPICS = [
  { topic: "runs", words: [], load: () => import("./start/submissions.ts") },
  { topic: "workflows", words: ["workflows"], load: () => import("./workflows/workflows.ts") },
  { topic: "workflows", words: [], load: () => import("./workflows/definitions.ts") },
  { topic: "costs", words: [], load: () => import("./plan/plans.ts") },
  { topic: "runs", words: ["runs"], load: () => import("./runs/runs.ts") },
  { topic: "runs", words: ["runs"], load: () => import("./runs/run-steps.ts") },
  { topic: "runs", words: ["runs"], load: () => import("./runs/follow/follow-runs.ts") },
  { topic: "runs", words: ["runs"], load: () => import("./runs/steer-runs.ts") },
  { topic: "runs", words: ["runs"], load: () => import("./repeat/repetitions.ts") },
  {
    topic: "approvals",
    words: ["runs", "approvals", "approve", "reject", "skip"],
    load: () => import("./approvals/approvals.ts"),
  },
  { topic: "dead letters", words: ["dead-letter"], load: () => import("./dead-letters/dead-letters.ts") },
  { topic: "budgets", words: ["budgets"], load: () => import("./costs/budgets.ts") },
  { topic: "costs", words: ["costs"], load: () => import("./costs/costs.ts") },
  { topic: "runs", words: ["violations"], load: () => import("./runs/violations.ts") },
  { topic: "schedules", words: ["schedules"], load: () => import("./schedules/schedules.ts") },
  { topic: "schedules", words: [], load: () => import("./schedules/preview-schedule.ts") },
  { topic: "keys", words: ["keys"], load: () => import("./keys/keys.ts") },
  { topic: "storage", words: ["storage"], load: () => import("./storage/storage.ts") },
  { topic: "templates", words: ["init"], load: () => import("./templates/templates.ts") },
  { topic: "webhooks", words: ["webhooks"], load: () => import("./webhooks/webhooks.ts") },
  { topic: "agents", words: ["agents"], load: () => import("./agents/agents.ts") },
  { topic: "agents", words: [], load: () => import("./agents/mcp-servers.ts") },
  { topic: "workflows", words: ["prompt"], load: () => import("./start/parts.ts") },
  { topic: "terminals", words: ["terminals"], load: () => import("./terminals/terminals.ts") },
  { topic: "terminals", words: [], load: () => import("./terminals/recordings.ts") },
  { topic: "system", words: ["doctor", "config"], load: () => import("./service/service.ts") },
  { topic: "system", words: ["restate"], load: () => import("./restate/restate.ts") },
  { topic: "system", words: ["db"], load: () => import("./database/database.ts") },
  { topic: "system", words: ["backup", "restore", "gc"], load: () => import("./data/data.ts") },
] as const;

type TopicOperations = Awaited<ReturnType<(typeof TOPICS)[number]["load"]>>;

/** The type of each operation, for who infers more from it. */
export type AnyOperation = OperationsOf<TopicOperations>;

type OperationsOf<Topic> = Topic extends unknown ? Topic[keyof Topic] : never;

export interface ListedOperation extends Operation {
  readonly topic: string;
}

export function loadOperations(): Promise<readonly ListedOperation[]> {
  return loadAll(TOPICS);
}

/** The operations whose verbs begin with this word. Undefined: there are none. */
export async function loadTopic(word: string): Promise<readonly ListedOperation[] | undefined> {
  const topics = TOPICS.filter(({ words }) => words.some((each: string) => each === word));
  return topics.length === 0 ? undefined : loadAll(topics);
}

async function loadAll(files: readonly OperationsFile[]): Promise<readonly ListedOperation[]> {
  const loaded = await Promise.all(files.map(async ({ topic, load }) => ({ topic, exported: await load() })));
  // A file of operations exports nothing else.
  return loaded.flatMap(({ topic, exported }) =>
    (Object.values(exported) as Operation[]).map((operation) => ({ topic, ...operation })),
  );
}

interface OperationsFile {
  readonly topic: string;
  load(): Promise<object>;
}
