import type { Trigger } from "./graph.ts";

/** What starts a run, in a line. */
export function describeTrigger(trigger: Trigger): string {
  switch (trigger.kind) {
    case "http":
      return `${trigger.method} ${trigger.pathPattern}`;
    case "queue":
      return `queue ${trigger.queueName}`;
    case "event":
      return `event ${trigger.event}${trigger.sourceAppId === undefined ? "" : ` of ${trigger.sourceAppId}`}`;
    case "cron":
      return `cron ${trigger.schedule} (${trigger.timezone})`;
  }
}

/** What two triggers of a workflow say alike: a name, or a start, which would start two runs. Times may be alike. */
export function findRepeat(triggers: readonly Trigger[]): readonly ["name" | "start", string] | undefined {
  const said = triggers.flatMap((each) => [
    ...(each.name === undefined ? [] : [["name", each.name] as const]),
    ...(each.kind === "cron" ? [] : [["start", describeTrigger(each)] as const]),
  ]);
  return said.find(([what, one], index) => said.slice(0, index).some(([other, two]) => other === what && two === one));
}
