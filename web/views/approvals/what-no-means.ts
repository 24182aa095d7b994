interface Meanings {
  readonly reject: string;
  readonly skip: string;
}

const OF_STEP: Meanings = {
  reject:
    "The step fails with APPROVAL_REJECTED, and its run goes on as its definition says after a failure: most fail with it.",
  skip: "Nobody has said yes or no: the step counts as skipped, and its run goes on without it.",
};
const OF_BUDGET: Meanings = {
  reject: "The budget stays as it is, and the run ends as budget exceeded.",
  skip: "The budget stays as it is, and the run ends as budget exceeded.",
};
const OF_POLICY: Meanings = {
  reject: "The output is not used: the step fails with POLICY_REJECTED.",
  skip: "The output is not used: it is left empty, and the run goes on.",
};
const OF_TASK: Meanings = {
  reject: "The task is told that it is not allowed, with your comment, and goes on: a call of an agent is not done.",
  skip: "The task is told that you have skipped it, and goes on: a call of an agent is not done.",
};

/** What becomes of a run whose question is not approved. `key`: what a task calls its question; those of Pawl itself begin with `@`. */
export function whatNoMeans(key: string | null): Meanings {
  if (key === null) return OF_STEP;
  if (key.startsWith("@budget")) return OF_BUDGET;
  return key.startsWith("@policy") ? OF_POLICY : OF_TASK;
}
