import { describe, expect, test } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { compileSteps } from "../../../test/simulation/uhlp.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { answerApproval } from "../../operations/approvals/answer-approval.ts";
import { listApprovals } from "../../operations/approvals/describe-run-approvals.ts";
import { readRunResult } from "../../operations/runs/read-run-result.ts";
import { loadDefinition } from "../load-definition.ts";

const STEPS = (more: string) => `steps:
  a: { type: control, subtype: approval, message: "\`Pay \${trigger.payload.amount}?\`", ${more}, transitions: { onSuccess: b, onFailureDefault: c } }
  b: { type: control, subtype: formatResponse, data: { paid: steps.a.output } }
  c: { type: control, subtype: formatResponse, data: { code: steps.a.output.error.code } }
`;
const FORM = "form: { type: object, properties: { amount: { type: number, maximum: 500 } }, required: [amount] }";

async function ask(more: string) {
  const graph = liftControls(await compileSteps(STEPS(more)));
  const world = new HttpWorld([]);
  const payload = { amount: 700 };
  const { id, no } = await world.world.run(graph, { requestData: { source: "internal", payload }, context: {} });
  const { app } = world.parts;
  const record = await world.world.recordOf(id);
  const [open] = await listApprovals(await app.records(), record);
  const result = async () => {
    await world.world.host.settled(id);
    const { outcome } = await readRunResult(world.world, await world.world.recordOf(id));
    return outcome.is === "completed" ? outcome.output : outcome;
  };
  const answer = (given: object) =>
    answerApproval(app, { record, path: open?.path ?? "" }, { answer: "approve", ...given } as Parameters<
      typeof answerApproval
    >[2]);
  return { world, no, open, answer, result };
}

describe("an approval as a step", () => {
  test("shows what is to be judged, and its output is what is approved", async () => {
    const { open, answer, result } = await ask("show: { amount: trigger.payload.amount }");
    expect(open).toMatchObject({ message: "Pay 700?", shown: { amount: 700 }, allow_edit: false, times_out_at: null });
    await answer({});
    expect(await result()).toMatchObject({ data: { paid: { amount: 700 } } });
  });

  test("takes what fits its form, and neither what does not nor an empty form", async () => {
    const { open, answer, result } = await ask(FORM);
    expect(open).toMatchObject({ allow_edit: true, schema: { required: ["amount"] } });
    await expect(answer({})).rejects.toMatchObject({ code: "APPROVAL_EDIT_REFUSED" });
    await expect(answer({ edited: { amount: 900 } })).rejects.toMatchObject({ code: "APPROVAL_EDIT_REFUSED" });
    await answer({ edited: { amount: 300 } });
    expect(await result()).toMatchObject({ data: { paid: { amount: 300 } } });
  });

  test("leads where its failures lead when it is refused or not answered in time", async () => {
    const refused = await ask("timeout: 2d");
    await refused.answer({ answer: "reject", by: "Ada", comment: "too much" });
    expect(await refused.result()).toMatchObject({ data: { code: "APPROVAL_REJECTED" } });
    const late = await ask("timeout: 2d");
    expect(late.open?.times_out_at).not.toBeNull();
    await late.world.world.clock.advance(2 * 86_400_000);
    expect(await late.result()).toMatchObject({ data: { code: "APPROVAL_TIMED_OUT" } });
    const skipped = await ask("timeout: 2d, onTimeout: skip");
    await skipped.world.world.clock.advance(2 * 86_400_000);
    expect(await skipped.result()).toMatchObject({ data: { paid: null } });
  });

  test("reminds and is escalated in the words of its file", async () => {
    const { open, world } = await ask(
      "reminder: { after: 1d, every: 12h, times: 2 }, escalation: { after: 2d, to: boss }",
    );
    expect(open).toMatchObject({ reminded: 0, escalated_to: null, terms: null });
    await world.world.clock.advance(3 * 86_400_000);
    const { app } = world.parts;
    const [late] = await listApprovals(await app.records(), await world.world.recordOf(open?.run_id ?? ""));
    expect(late).toMatchObject({ approvers: null, terms: "reminded 2 times; escalated to boss" });
  });

  test.each([
    ["subtype: approval", "asks nothing"],
    ["subtype: approval, message: \"'Go?'\", form: { type: objekt }", "`type` must be one of"],
    ["subtype: approval, message: \"'Go?'\", onTimeout: abort", "abort"],
    ["subtype: approval, message: \"'Go?'\", approvers: []", "is empty"],
    ["subtype: approval, message: \"'Go?'\", quorum: 0", "from 1"],
    [`subtype: approval, message: "'Go?'", quorum: 2, ${FORM}`, "change what the others have approved"],
    ["subtype: approval, message: \"'Go?'\", reminder: { after: 1d }", "no `times`"],
    ["subtype: approval, message: \"'Go?'\", reminder: { after: 1d, times: 0 }", "from 1"],
    ["subtype: approval, message: \"'Go?'\", timeout: 1d, reminder: { after: 1d, times: 1 }", "question has ended"],
    ["subtype: approval, message: \"'Go?'\", timeout: 1d, escalation: { after: 2d, to: boss }", "question has ended"],
    ["subtype: approval, message: \"'Go?'\", escalation: { after: 2d, to: [] }", "is empty"],
    ["subtype: approval, message: \"'Go?'\", escalation: { after: 2d, to: '' }", "must not be empty"],
    ["subtype: approval, message: \"'Go?'\", escalation: { after: soon, to: boss }", "soon"],
    ["subtype: approval, message: \"'Go?'\", escalateTo: boss", "`escalateTo` means nothing"],
    ["subtype: approval, message: \"'Go?'\", remindAfter: 1d", "`remindAfter` means nothing"],
    ["subtype: approval, message: \"'Go?'\", reminders: 3", "`reminders` means nothing"],
    ["subtype: approval, message: steps.nowhere.output", "nowhere"],
  ])("%s is refused", async (step, message) => {
    const text = `workflowId: test\nstartAt: a\nsteps:\n  a: { type: control, ${step}, end: true }\n`;
    const { problems } = await loadDefinition({ text });
    expect(problems.filter(({ severity }) => severity === "error")).toMatchObject([
      { message: expect.stringContaining(message) },
    ]);
  });
});
