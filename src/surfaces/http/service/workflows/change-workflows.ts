import { z } from "zod";
import { removeWorkflow, saveWorkflow } from "../../../../operations/workflows/save-workflow.ts";
import { defineEndpoint } from "../endpoint.ts";
import { savedVersionSchema } from "../schemas/workflow.ts";
import { nameParams } from "./read-workflows.ts";

const textBody = z.strictObject({ text: z.string().min(1).describe("A definition in any of the formats.") });

/** `POST /workflows`: under the name that the text says. */
export const saveWorkflowEndpoint = defineEndpoint({
  method: "POST",
  path: "/workflows",
  id: "saveWorkflow",
  summary: "Save a definition under its own name, as a new version where there is one",
  tag: "workflows",
  scope: "write",
  body: textBody,
  answer: savedVersionSchema,
  status: 201,
  otherStatuses: [200],
  async handle({ app, body }) {
    const data = await saveWorkflow(app, body);
    return { data, status: data.is_new ? 201 : 200 };
  },
});

/** `PUT /workflows/{name}`: the same, where the name is known. */
export const putWorkflow = defineEndpoint({
  method: "PUT",
  path: "/workflows/{name}",
  id: "putWorkflow",
  summary: "Save a definition whose name is known",
  tag: "workflows",
  scope: "write",
  params: nameParams,
  body: textBody,
  answer: savedVersionSchema,
  status: 201,
  otherStatuses: [200],
  async handle({ app, params, body }) {
    const data = await saveWorkflow(app, { ...body, name: params.name });
    return { data, status: data.is_new ? 201 : 200 };
  },
});

/** `DELETE /workflows/{name}`: only what was saved through the service. */
export const removeWorkflowEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/workflows/{name}",
  id: "removeWorkflow",
  summary: "Remove a saved definition with all its versions; its runs go on",
  tag: "workflows",
  scope: "write",
  params: nameParams,
  answer: z.object({ name: z.string() }),
  async handle({ app, params }) {
    await removeWorkflow(app, params.name);
    return { data: params };
  },
});
