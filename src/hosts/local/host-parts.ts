import type { PawlError } from "../../core/errors/pawl-error.ts";
import { parserOnce } from "../../core/parse-json.ts";
import { SizedCache } from "../../core/sized-cache.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { queueApprovalWebhooks } from "../session/approvals/approval-webhooks.ts";
import { BudgetLedger } from "../session/budgets/budget-ledger.ts";
import { LazyBudgets } from "../session/budgets/lazy-budgets.ts";
import { LimitWarnings } from "../session/budgets/limit-warnings.ts";
import { CommitQueue, type CommitQueueOptions } from "../session/commit-queue.ts";
import { tellHeld } from "../session/finish-run.ts";
import { GraphCache } from "../session/graph-cache.ts";
import { OutputPolicies } from "../session/policies/output-policies.ts";
import { InputSecrets } from "../session/secrets/input-secrets.ts";
import type { HostLog } from "../session/session-log.ts";
import type { StepParts } from "../session/steps/step-parts.ts";
import type { TaskRunnerParts } from "../session/task-runner.ts";
import type { TextTools } from "../session/values/project-output.ts";
import type { ValueSources } from "../session/values/run-values.ts";
import { StorageRetries } from "../session/values/storage-retries.ts";
import type { LocalHostOptions } from "./local-host-options.ts";

/** How long a failing storage is left alone. */
export const STALL_RETRY_MS = 5_000;
/** What a step waits for is tried again sooner, then less and less often. */
const FIRST_RETRY_MS = 50;
/** A commit is what all runs wait for: a database that is back is at work again within a second. */
const LAST_COMMIT_RETRY_MS = 500;

const MEBIBYTE = 1024 * 1024;

type Given = "rates" | "journal" | "clock" | "findExecutor" | "resolveCall" | "previousSeenAt" | "env" | "onDefect";

/** Shared by all runs of a host: what its process has given it, and what is made of that. */
export interface HostParts
  extends Pick<LocalHostOptions, Given>,
    Omit<TaskRunnerParts, "broken">,
    Omit<StepParts, "broken"> {
  readonly queue: HostLog;
  readonly retries: StorageRetries;
  /** Waits while the storage fails, as the blobs of `sources` and `writer` do. */
  readonly files: FileStorage;
  readonly sources: ValueSources;
  readonly graphs: GraphCache;
  readonly secrets: InputSecrets;
  readonly warnings: LimitWarnings;
  readonly budgets: LazyBudgets;
}

/** `stalled`: nothing can be written or read at the moment; undefined: it can again. */
export function openHostParts(options: LocalHostOptions, stalled: (error: PawlError | undefined) => void): HostParts {
  const { journal, clock, openBudgets, publishedEvents, rates, onDefect } = options;
  const retries = new StorageRetries({ clock, firstRetryMs: FIRST_RETRY_MS, retryMs: STALL_RETRY_MS, stalled });
  const [blobs, files] = [retries.blobs(options.blobs), retries.files(options.files)];
  const tools: Required<TextTools> = {
    matches: (...asked) => options.matches?.(...asked) ?? false,
    parse: parserOnce(),
  };
  const env = (name: string) => options.env(name);
  const mask = (text: string) => options.mask(text);
  const graphs = new GraphCache();
  const warnings = new LimitWarnings(clock, env);
  const ledger = new BudgetLedger({
    clock,
    near: (run, near) => warnings.warnShared(run, near),
    failed: onDefect,
    workers: options.workers,
  });
  const commits: CommitQueueOptions = {
    journal,
    clock,
    maxRowsPerCommit: options.maxRowsPerCommit ?? 500,
    firstRetryMs: FIRST_RETRY_MS,
    retryMs: LAST_COMMIT_RETRY_MS,
    stalled,
    broken: onDefect,
  };
  const secrets = new InputSecrets(options.secrets, journal, options);
  return {
    ...options,
    env,
    queue: options.openLog?.(commits) ?? new CommitQueue(commits),
    retries,
    files,
    ...(publishedEvents && { publishedEvents: async () => retries.events(await publishedEvents()) }),
    ...(rates && { rates: async () => retries.rates(await rates()) }),
    tools,
    sources: { journal, blobs, files, cache: new SizedCache(options.cacheBytes ?? 32 * MEBIBYTE), env, ...tools },
    writer: {
      blobs,
      maxBytes: options.maxOutputBytes ?? 16 * MEBIBYTE,
      maxRunBytes: options.maxRunBytes ?? 512 * MEBIBYTE,
      mask,
    },
    graphs,
    secrets,
    keepSecrets: ({ no }, leaves) => secrets.keep(no, leaves),
    learnSecrets: ({ no }, values) => secrets.learn(no, values),
    maskPieces: () => options.maskPieces?.() ?? { push: mask, end: () => "" },
    policies: new OutputPolicies({ findAll: options.findAll ?? (() => undefined), env }),
    asked: (run, instance, seq) => queueApprovalWebhooks(run, instance, { asked: seq, env }),
    held: (run, instance) => tellHeld(run, instance, env),
    warnings,
    ledger,
    budgets: new LazyBudgets({ ledger, journal, graphs, openBudgets, workers: options.workers }),
  };
}
