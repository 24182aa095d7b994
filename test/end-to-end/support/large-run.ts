/** A workflow of some 40 KB without any input: `steps` texts of 7 MB each, made by expressions alone. */
export function largeRun(steps: number): string {
  const copies = (count: number, text: string) => `join([${Array(count).fill(text).join(", ")}], '')`;
  const merge = (t: string, next?: string) => ({
    type: "control",
    subtype: "merge",
    strategy: "object",
    sources: { t },
    ...(next === undefined ? { end: true } : { transitions: [{ nextStep: next }] }),
  });
  const doubling = ["'0123456789abcdef'", "steps.d0.output.t", "steps.d1.output.t", "steps.d2.output.t"];
  const parts = doubling.map((text, n) => [`d${n}`, merge(copies(16, text), n < 3 ? `d${n + 1}` : "s0")]);
  const made = Array.from({ length: steps }, (_, n) => [
    `s${n}`,
    // Each another text, so that no two are one blob.
    merge(`join([${copies(7, "steps.d3.output.t")}, '${n}'], '')`, n < steps - 1 ? `s${n + 1}` : undefined),
  ]);
  return `${JSON.stringify({
    workflowId: "large",
    name: "large",
    trigger: { type: "internal" },
    startAt: "d0",
    maxSteps: 1_000,
    steps: Object.fromEntries([...parts, ...made]),
  })}\n`;
}
