import { fireOnce, type SlotCrash } from "./fire-once.ts";

/** A child process of the fault tests: fires a slot in a data directory, and dies where PAWL_CRASH_AT says. */
const [dataDir = "", nowText = ""] = process.argv.slice(2);
await fireOnce(dataDir, { now: Number(nowText), crashAt: process.env["PAWL_CRASH_AT"] as SlotCrash | undefined });
