import { isDeepStrictEqual } from "node:util";
import { SHAPES } from "../../workload/workload.ts";
import type { Check, Violation } from "../observation.ts";

/** Every accepted run is there once, has ended as its workflow can, and has the outputs of one that nothing disturbed. */
export const checkEnds: Check = (seen) => {
  const violations: Violation[] = [];
  const report = (what: string) => violations.push({ check: "ends", what });
  const byId = new Map(seen.runs.map((run) => [run.runId, run]));
  for (const { runId, label, shape: name } of seen.accepted) {
    const shape = SHAPES.find((one) => one.name === name);
    const run = byId.get(runId);
    if (run === undefined || shape === undefined) {
      report(`The run ${runId} (${label}) was accepted and is not there.`);
      continue;
    }
    const { ends, outputs } = shape.expect(label);
    if (!ends.some((end) => end === run.status)) report(`The run ${runId} (${label}) is ${run.status}.`);
    const code = run.events.at(-1)?.event.code;
    if (run.status === "failed" && (code !== "INTERRUPTED" || seen.faults.length === 0))
      report(`The run ${runId} (${label}) has failed with ${code}, after ${seen.faults.length} faults.`);
    const got = shape.seen(run.outputs);
    if (run.status === "completed" && !isDeepStrictEqual(got, outputs))
      report(`The run ${runId} (${label}) gave ${JSON.stringify(got)}, not ${JSON.stringify(outputs)}.`);
  }
  return violations;
};

/** There is no run that nobody asked for, and none twice. */
export const checkNoOthers: Check = (seen) => {
  const asked = new Set([
    ...seen.accepted.map(({ runId }) => runId),
    ...seen.schedules.flatMap(({ slots }) => slots.map(({ runId }) => runId)),
  ]);
  const others = seen.runs.filter(({ runId }) => !asked.has(runId));
  return others.map(({ runId, workflow }) => ({
    check: "no-others",
    what: `Nobody asked for the run ${runId} of ${workflow}.`,
  }));
};

/** Numbers of events are dense, and each step is recorded as done once and has nothing behind that. */
export const checkJournals: Check = ({ runs }) => {
  const violations: Violation[] = [];
  for (const { runId, events } of runs) {
    const gap = events.findIndex(({ seq }, n) => seq !== n + 1);
    if (gap !== -1) violations.push({ check: "dense", what: `Run ${runId} has no event ${gap + 1}.` });
    const done = new Set<string>();
    for (const { seq, event } of events) {
      if (event.path === undefined || !["stepStarted", "stepSucceeded", "stepFailed"].includes(event.type)) continue;
      if (done.has(event.path))
        violations.push({
          check: "once",
          what: `Run ${runId}: ${event.path} is done, and has ${event.type} at ${seq}.`,
        });
      if (event.type === "stepSucceeded") done.add(event.path);
    }
    const ends = events.filter(({ event }) => event.type === "runFinished").length;
    if (ends > 1) violations.push({ check: "once", what: `Run ${runId} has ended ${ends} times.` });
  }
  return violations;
};
