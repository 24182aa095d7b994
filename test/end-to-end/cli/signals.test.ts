import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const PAYMENT = `
workflowId: payment
startAt: wait_for_it
steps:
  wait_for_it:
    type: control
    subtype: wait
    event: join(['paid', trigger.payload.order], ' ')
    timeout: 2d
    transitions: { onSuccess: done }
  done:
    type: control
    subtype: formatResponse
    data: { sum: steps.wait_for_it.output.sum }
`;

test("a run that waits for an event says how to send it, and goes on with what it gets", async () => {
  const cwd = application({ "payment.yaml": PAYMENT });
  const waiting = await pawl(["run", "payment.yaml", "-i", "order=17"], { cwd });
  expect(waiting.code).toBe(6);
  const [, id = ""] = /pawl runs signal (\S+) 'paid 17'/.exec(waiting.stderr) ?? [];
  expect(id).not.toBe("");

  const nothing = await pawl(["runs", "resume", "--all"], { cwd });
  expect(nothing.stderr).not.toContain("wait_for_it");

  const ended = await pawl(["runs", "signal", id, "paid 17", "--payload", '{"sum": 5}'], { cwd });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toEqual({ resultType: "generic", data: { sum: 5 } });

  const late = await pawl(["runs", "signal", id, "paid 17"], { cwd });
  expect(late.code).toBe(2);
  expect(late.stderr).toContain("RUN_FINISHED");
});

test("a payload that is no JSON is refused, and the run still waits", async () => {
  const cwd = application({ "payment.yaml": PAYMENT });
  const { stderr } = await pawl(["run", "payment.yaml", "-i", "order=1"], { cwd });
  const [, id = ""] = /pawl runs signal (\S+)/.exec(stderr) ?? [];
  const refused = await pawl(["runs", "signal", id, "paid 1", "--payload", "{"], { cwd });
  expect(refused.stderr).toContain("`--payload` is not valid JSON");
  const shown = await pawl(["runs", "show", id, "--json"], { cwd });
  expect(JSON.parse(shown.stdout).data.status).toBe("waiting");
});
