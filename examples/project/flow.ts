import { each, run, workflow } from "pawl";
import { z } from "zod";

const TEXTS = ["Finished steps stay finished.", "Kill it, and start it again."];

/** Counts the words of texts, several at once. Each step is a function of yours, and its result is recorded. */
export const words = workflow(
  "words",
  { input: z.object({ texts: z.array(z.string()).default(TEXTS) }) },
  ({ input }) => {
    const counted = each(input.texts, (text) =>
      run("count", { text }, ({ text }) => text.split(/\s+/).length, { retry: 3, timeout: "30s" }),
    );
    return run("add", { counted }, ({ counted }) => ({
      texts: counted.length,
      words: counted.reduce((sum, count) => sum + count, 0),
    }));
  },
);
