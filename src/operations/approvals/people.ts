import type { AnswerRules } from "../../core/graph/graph.ts";
import { type Answerer, approversOf, mayAnswer, nameOf, OPERATOR } from "../../core/trust/approvers.ts";
import type { Place, Principal, Stores } from "../application/ports.ts";
import { mayAnswerRuns } from "../keys/api-keys.ts";

/** Who may answer runs of the caller here: the operator, and whom a key proves that stands. */
export async function listPeople(app: Place & Principal & Stores): Promise<readonly Answerer[]> {
  const keys = await (await app.service()).keys.list({});
  const now = app.clock.now();
  const standing = keys.filter(
    (key) => (key.tenantId === undefined || key.tenantId === app.tenantId) && mayAnswerRuns(key, now),
  );
  return [{ name: OPERATOR }, ...standing.map(({ id, name, groups }) => ({ name, key: id, groups }))];
}

/** Why an approval could never be given by these. Undefined: it could. */
export function findLackOfPeople(
  rules: AnswerRules,
  people: readonly Answerer[],
  asker: Answerer | undefined,
): string | undefined {
  const { approvers = [], escalation, quorum = 1, notRequester = false } = rules;
  const named = [...approvers, ...(escalation?.to ?? [])];
  const unknown = named.filter((name) => !people.some((one) => mayAnswer({ approvers: [name], notBy: [] }, one)));
  if (unknown.length > 0) return `No key or group here is named ${unknown.join(" or ")}.`;
  const notBy = notRequester ? [nameOf(asker)] : [];
  // Who may answer at last: until then nobody need be able to.
  const terms = { approvers: approversOf(rules, true), notBy };
  const able = new Set(people.filter((one) => mayAnswer(terms, one)).map(({ name }) => name));
  if (able.size >= quorum) return undefined;
  const but = notRequester ? `, besides ${nameOf(asker)}, who asks for the run` : "";
  return `${quorum} must approve, and ${able.size} could${but}.`;
}
