import { beforeEach, inject } from "vitest";
import { needs } from "../../support/needs.ts";
import { PROFILE } from "./profile.ts";

const OWNER = "one process owns a data folder and drives all runs; over a database each command drives its own";
const TERMINALS =
  "over a database the terminals of a process are reached at its server, not by other commands of the same data folder";

/** Tests about a data folder, by the end of their file, with the reason. A name is the beginning of a test's; `*`: all of the file. */
const EMBEDDED_ONLY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agents/built-in-tools.test.ts": { "in a ": "it reads the files of the data folder" },
  "cli/approvals.test.ts": {
    "with an owner": "the process that owns a data folder is named; over a database any process takes up the run",
  },
  "cli/disk-full.test.ts": { "*": "it fills the disk of the data folder" },
  "cli/exit-codes.test.ts": {
    "doctor says once": "it sets REDIS_URL without a database",
    "what a run leaves": "it looks at the modes of the files of the data folder",
  },
  "cli/ownership.test.ts": {
    "a second run": OWNER,
    "a caller whose own run": OWNER,
    "the next owner": OWNER,
    "a detached run":
      "the background process of a data folder; `cli/database.test.ts` has detached runs over a database",
    "an owner whose": OWNER,
    "Ctrl-C in a caller": OWNER,
  },
  "cli/terminals.test.ts": { "*": TERMINALS },
  "mcp-terminal/one-owner.test.ts": {
    "two servers": TERMINALS,
    "a guest's": TERMINALS,
    "when the owner": TERMINALS,
    "a call that": TERMINALS,
    "an owner whose": TERMINALS,
    "a workflow that": TERMINALS,
  },
  "mcp-service/service.test.ts": { "a run stays when": "it is about the owner of a data folder" },
  "serve/backup.test.ts": {
    "*": "it copies and clears a data folder; over a database `backup` refuses, and `test/faults/shared/garbage.test.ts` has `gc`",
  },
  "serve/copy-data.test.ts": { "*": "it copies data folders, and sets databases and buckets itself" },
  "serve/s3.test.ts": {
    "a run goes on with": "its values lie in the data folder first",
    "gc clears the bucket": "it backs a data folder up",
  },
  "serve/refused-start.test.ts": {
    "a server that finds":
      "over a database it has gone on with nothing yet: the lease of the killed process is not over",
  },
  "serve/serve.test.ts": { "refuses a data directory": "over a database any number of processes serve" },
  "serve/policies.test.ts": { "what a policy redacts": "it reads the files of the data folder" },
  "serve/grants.test.ts": { "is told at once of a path": "it reads the stored files of the data folder" },
};

const UNKNOWN = "before a server has served, `doctor` says that Restate knows no endpoint";

/** The same for what Restate does otherwise. */
const NOT_DRIVEN_BY_RESTATE: typeof EMBEDDED_ONLY = {
  "cli/exit-codes.test.ts": { "doctor says once": UNKNOWN },
  "cli/parity.test.ts": { "a verb answers alike": UNKNOWN },
  "serve/refused-start.test.ts": {
    "a server that finds": "it has gone on with nothing: Restate would have called it for that",
  },
};

/** With another profile those tests are skipped, and say why. */
beforeEach((context) => {
  if (PROFILE === "production" && inject("production") === undefined) needs("redis-server");
  const { file, name } = context.task;
  const table = PROFILE === "restate" ? NOT_DRIVEN_BY_RESTATE : EMBEDDED_ONLY;
  const [, reasons = {}] = Object.entries(table).find(([end]) => file.filepath.endsWith(end)) ?? [];
  const [, why] = Object.entries(reasons).find(([start]) => start === "*" || name.startsWith(start)) ?? [];
  if (why !== undefined) context.skip(why);
});
