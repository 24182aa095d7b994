import { FORM_WITH_QUORUM } from "../core/trust/approvers.ts";
import type { ProblemList } from "./problem-list.ts";
import { list } from "./shape/containers.ts";
import { optional, withDefault } from "./shape/fields.ts";
import { flag, integer } from "./shape/scalars.ts";
import type { Shape, Text } from "./shape/shape.ts";
import type { YamlMap } from "./source/yaml-node.ts";

/** `name`: how the dialect writes one. */
export const approvers = (name: Shape<Text>) =>
  optional(
    list(name, { min: 1, max: 100 }),
    "Who may answer: names of API keys, groups of them, or `operator`, who bears no key of their own.",
    { otherwise: "whoever may answer runs" },
  );

export const quorum = optional(integer(1, 100), "How many different people must approve; one no is a no.", {
  otherwise: "one",
});

export const notRequester = withDefault(flag(), false, "Whoever has asked for the run may not answer.");

/** Of an approval whose data the person may change. */
export function refuseQuorum(approval: YamlMap, read: number | undefined, problems: ProblemList): void {
  const at = approval.entries.get("quorum")?.value;
  if (at !== undefined && read !== 1) problems.error({ code: "VALUE_INVALID", at, ...FORM_WITH_QUORUM });
}
