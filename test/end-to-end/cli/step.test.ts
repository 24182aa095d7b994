import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const ORDERS = fileURLToPath(new URL("../../../examples/orders", import.meta.url));
const PROCESS_ORDER = `${ORDERS}/workflows/process-order.yaml`;

test("a code step runs alone on the input that is given to it", async () => {
  needs("bwrap");
  const cwd = application({ "input.json": JSON.stringify({ orderData: "[]", schemaPath: "schemas/order.v1.json" }) });
  const args = ["step", PROCESS_ORDER, "validate_order", "--app", ORDERS, "--data", "data", "--input", "input.json"];
  const { code, stdout } = await pawl(args, { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ valid: false, errors: ["order must be of type object"] });
});

test("a tool step runs alone, its arguments given one by one", async () => {
  const cwd = application({});
  const args = ["step", PROCESS_ORDER, "charge_card", "--app", ORDERS, "--data", "data"];
  const { stdout } = await pawl([...args, "-i", 'card="0002"', "-i", "amountCents=5"], { cwd });
  expect(JSON.parse(stdout)).toEqual({ approved: false, reason: "insufficient funds" });
});

test("an agent step of a Sandcastle file runs alone", async () => {
  const flow =
    'name: f\nsteps:\n  - {id: a, prompt: "A {input.x}"}\n  - {id: b, depends_on: [a], prompt: "B {input.x}"}\n';
  const cwd = application({ "flow.yaml": flow, "script.yaml": 'steps: {b: {reply: "answered", delay_ms: 0}}' });
  const { code, stdout, stderr } = await pawl(
    ["step", "flow.yaml", "b", "-i", "x=1", "--agent", "simulated:script.yaml"],
    { cwd },
  );
  expect(code).toBe(0);
  expect(stdout).toContain("answered");
  expect(stderr).not.toContain("a completed");
});

test("a step that is not there is told with those that are", async () => {
  const { code, stderr } = await pawl(["step", PROCESS_ORDER, "chrage_card"], { cwd: application({}) });
  expect(code).toBe(5);
  expect(stderr).toContain('no step "chrage_card"');
  expect(stderr).toContain("charge_card");
});
