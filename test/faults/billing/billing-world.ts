import { createInlineExecutor } from "../../../src/executors/agent/inline/inline-executor.ts";
import type { Model } from "../../../src/executors/models/create-models.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { Budgets } from "../../../src/ports/service/budgets.ts";
import type { AgentTool } from "../../../src/ports/tools/agent-toolbox.ts";
import { toGraph } from "../../fakes/direct-graph.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import { journalWith, World } from "../world.ts";

/** Agents that look around for some turns and then answer, one for each message. */
export function agentsGraph(messages: readonly string[], maxConcurrent: number) {
  const agent = { name: "worker", model: "test:billing", max_iterations: 12, max_tokens: 4_096 };
  return toGraph([
    {
      id: "work",
      kind: "task",
      executor: "inline",
      input: {
        op: "object",
        entries: { agent: { op: "literal", value: agent }, message: { op: "path", root: "item", path: [] } },
      },
      each: { list: { op: "literal", value: [...messages] }, maxConcurrent },
      retry: { maxAttempts: 3, backoff: "fixed", initialMs: 0, maxMs: 0, jitter: 0 },
      onFailure: "skip",
    },
  ]);
}

const LOOK: AgentTool = {
  name: "look",
  tool: "look",
  aliases: [],
  description: "Looks around.",
  inputSchema: { type: "object" },
  isRepeatable: true,
  call: async () => ({ isError: false, text: "Nothing to see.", content: [] }),
};

/** Until all have ended. Where money in doubt is all that blocks a run, a person says no. */
export async function endRuns(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    for (;;) {
      const { completedAt, status } = await world.host.settled(id);
      if (completedAt !== undefined || status !== "awaiting_approval") break;
      const asked = (await world.eventsOf(id)).findLast((event) => event.type === "approvalAsked");
      await world.host.request(id, { type: "answer", path: asked?.path ?? "", answer: { answer: "reject" } });
    }
  }
}

export function createAgent(model: Model) {
  return createInlineExecutor({
    models: { resolve: async () => model },
    conversations: () => Promise.reject(new Error("No conversation is kept.")),
    toolbox: async () => ({
      offer: async () => ({ tools: [LOOK], missing: [], idle: [], warnings: [] }),
      endRun: async () => undefined,
      hold: () => {},
      states: async () => [],
    }),
    builtIns: async () => ({ offer: async () => [] }),
    repairs: 0,
    patienceMs: 0,
  });
}

/** A dead process asks for nothing any more. */
function until(budgets: Budgets, isDead: () => boolean): Budgets {
  return new Proxy(budgets, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => (isDead() ? new Promise(() => undefined) : Reflect.apply(member, target, given));
    },
  });
}

const LONG_MS = 3_600_000;

/** They share a journal, and each drives runs of its own. */
function onlyRuns(journal: MemoryJournal, isOwn: (id: string) => boolean): Journal {
  return new Proxy(journal, {
    get(target, name) {
      if (name === "claimDue")
        return async (options: Parameters<Journal["claimDue"]>[0]) =>
          (await target.claimDue(options)).filter(({ id }) => isOwn(id));
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Of one of several processes: its runs are those of its name. */
interface OneOfSeveral {
  readonly name: string;
  readonly workers: Set<string>;
  readonly journal: MemoryJournal;
  isOwn(runId: string): boolean;
}

/** Processes that follow one another on one journal. */
export class Lives {
  readonly journal: Journal;
  /** That of the process that lives. */
  clock = new FakeClock();
  readonly #several: OneOfSeveral | undefined;
  #count = 0;
  readonly #budgets: Budgets | undefined;
  readonly #executor: ReturnType<typeof createAgent>;

  constructor(executor: ReturnType<typeof createAgent>, budgets: Budgets | undefined, several?: OneOfSeveral) {
    this.#executor = executor;
    this.#budgets = budgets;
    this.#several = several;
    this.journal = several === undefined ? new MemoryJournal() : onlyRuns(several.journal, several.isOwn);
  }

  get #worker(): string {
    return `${this.#several?.name} ${this.#count}`;
  }

  /** A process that dies when it has committed so often: from then on nothing is written, and nothing that waits for it happens. */
  begin(commits = Number.POSITIVE_INFINITY): { readonly world: World; readonly died: Promise<"died"> } {
    const died = Promise.withResolvers<"died">();
    let left = commits;
    const journal = journalWith(this.journal, (entries, append) => {
      left -= 1;
      if (left >= 0) return append(entries);
      died.resolve("died");
      return new Promise(() => {});
    });
    const budgets = this.#budgets === undefined ? undefined : until(this.#budgets, () => left < 0);
    // The deaths lie so far apart that nothing is suspected of them: suspects wait, and here no time passes by itself.
    this.clock = new FakeClock(this.clock.now() + LONG_MS);
    const workers = this.#several?.workers;
    workers?.delete(this.#worker);
    this.#count += 1;
    const worker = this.#worker;
    workers?.add(worker);
    const world = new World({
      journal,
      clock: this.clock,
      host: {
        findExecutor: async () => this.#executor,
        ...(budgets === undefined ? {} : { openBudgets: async () => budgets }),
        ...(workers === undefined ? {} : { workers: { own: () => worker, list: async () => [...workers] } }),
      },
    });
    return { world, died: died.promise };
  }
}
