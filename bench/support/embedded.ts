// As a program has it: the package as it is built, which is this one.
import { each, openPawl, type PawlOptions, run, type Workflow, workflow } from "pawl";
import { z } from "zod";

const nothing = () => true;

/** The engine within a program, whose functions do nothing. */
export async function openEmbedded(options: Omit<PawlOptions, "workflows" | "folder">, folder: string) {
  const sequences = new Map([4, 500].map((steps) => [steps, sequence(steps)]));
  const fan = workflow("fan-out", { input: z.object({ list: z.array(z.number()) }) }, ({ input }) => {
    const all = each(input.list, () => run("item", {}, nothing), { window: 500 });
    return run("join", {}, nothing, { after: [all] });
  });
  const pawl = await openPawl({ ...options, folder, workflows: [fan, ...sequences.values()] });
  const finish = async <In>(flow: Workflow<In, unknown>, input: NoInfer<In>) => {
    await (await pawl.start(flow, input)).result();
  };
  return {
    async sequence(steps: number) {
      const flow = sequences.get(steps) ?? sequence(steps);
      if (!sequences.has(steps)) pawl.add([flow]);
      sequences.set(steps, flow);
      await finish(flow, {});
    },
    fanOut: (items: number) => finish(fan, { list: Array.from({ length: items }, (_, n) => n) }),
    close: () => pawl.close(),
  };
}

function sequence(steps: number) {
  return workflow(`sequence-${steps}`, {}, () => {
    let last = run("s0", {}, nothing);
    for (let n = 1; n < steps; n += 1) last = run(`s${n}`, {}, nothing, { after: [last] });
    return last;
  });
}
