import { join } from "node:path";
import { parseArgs } from "node:util";
import { copyDataDirectory } from "./copy-data-directory.ts";
import { dieAt, parseCrashPoint, type Reached } from "./crashing-journal.ts";
import { driveAll, openOwner } from "./data-directory.ts";

/**
 * A child process of the fault tests: owns a data directory, takes up or starts its runs, answers what they ask, and
 * says on stdout how they ended. With --one-event PAWL_CRASH_AT=12:before makes it die at a commit, and --copies FOLDER
 * makes it leave there what a death at each commit would have left. With --hold it stays the owner until it is killed.
 */
const { values, positionals } = parseArgs({
  options: {
    runs: { type: "string", default: "run-1" },
    "one-event": { type: "boolean" },
    copies: { type: "string" },
    hold: { type: "boolean" },
  },
  allowPositionals: true,
});
const [dataDir = ""] = positionals;
const crashAt = process.env["PAWL_CRASH_AT"];
const crash = crashAt === undefined ? undefined : parseCrashPoint(crashAt);
const die = dieAt(crash);
const reached: Reached = async (point) => {
  if (values.copies !== undefined) copyDataDirectory(dataDir, join(values.copies, `${point.commit}-${point.when}`));
  await die(point);
};
const owner = openOwner(dataDir, values["one-event"] === true ? { reached } : {});
const records = await driveAll(owner, values.runs.split(","));
process.stdout.write(
  `${JSON.stringify({ commits: owner.commits(), statuses: records.map(({ status }) => status) })}\n`,
);
if (values.hold === true) setInterval(() => undefined, 60_000);
else await owner.close();
