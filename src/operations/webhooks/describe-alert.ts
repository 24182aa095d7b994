import type { PolicyDecision } from "../../core/graph/policy.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ToldAlert } from "../../hosts/session/policies/output-policies.ts";
import type { RunRecord } from "../../ports/journal.ts";

/** What a webhook tells of an alert: what was found is counted, never told. */
export interface PolicyAlert {
  readonly event: "policy.alert";
  readonly run_id: string;
  readonly workflow: string;
  readonly path: string;
  readonly policy: string;
  readonly found: NonNullable<PolicyDecision["found"]>;
  readonly why: string;
  readonly timestamp: string;
}

/** The same text whenever it is asked for. */
export function describeAlert({ id, workflow }: RunRecord, { path, at, decision }: ToldAlert): PolicyAlert {
  const { policy, found = {}, why } = decision;
  return { event: "policy.alert", run_id: id, workflow, path, policy, found, why, timestamp: toIsoTime(at) };
}
