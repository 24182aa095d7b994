import { z } from "zod";
import { deleteRun } from "../../../../operations/runs/delete-run.ts";
import { defineEndpoint } from "../endpoint.ts";

/** `DELETE /runs/{id}`: only what has ended. */
export const deleteRunEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/runs/{id}",
  id: "deleteRun",
  summary: "Delete a run that has ended",
  tag: "runs",
  scope: "write",
  params: z.object({ id: z.string().min(1) }),
  answer: z.object({ run_id: z.string() }),
  async handle({ app, params, c }) {
    const id = await deleteRun(app, params.id);
    c.set("runId", id);
    return { data: { run_id: id } };
  },
});
