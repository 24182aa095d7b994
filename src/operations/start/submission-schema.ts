import { z } from "zod";
import { aliasOf, idempotencyKey, jsonObjectSchema } from "../schemas.ts";

const headersSchema = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, "is no name of a header"),
    z
      .string()
      .max(4_000)
      .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "has characters that headers cannot carry"),
  )
  .refine((headers) => Object.keys(headers).length <= 50, "has more than 50 headers");

export const partSchema = z
  .string()
  .min(1)
  .max(200)
  .describe("Of a text of agents: which of its workflows or agents is meant.");

const limitsSchema = z.strictObject({
  max_cost_usd: z.number().positive().max(1_000_000).optional(),
  max_tokens: z.number().int().min(1).max(1_000_000_000_000).optional(),
  max_steps: z.number().int().min(1).max(1_000_000_000).optional().describe("Every try of a step counts."),
  max_seconds: z.number().min(1).max(31_536_000).optional(),
  on_exceeded: z
    .enum(["stop", "ask"])
    .optional()
    .describe("`ask`: an approval asks to raise the limit, and the run goes on after it."),
});

const prioritySchema = z
  .number()
  .int()
  .min(-10)
  .max(10)
  .optional()
  .describe("Where calls of several runs wait for one server, the highest goes first. Absent: 0.");

/** Both spellings of what two generations of clients send. */
export const submissionSchema = z
  .strictObject({
    workflow: z.string().min(1).optional().describe("A registered name, or the text of a definition."),
    workflow_name: aliasOf("workflow", z.string().min(1).max(200)),
    part: partSchema.optional(),
    version: z.int().min(1).max(1_000_000).optional().describe("Of a saved definition; absent: the newest."),
    input: jsonObjectSchema.optional().describe("The input of the run."),
    input_data: aliasOf("input", jsonObjectSchema),
    callback_url: z
      .url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" })
      .max(2_000)
      .optional()
      .describe("Takes the place of the definition's `on_complete.webhook`."),
    callback_headers: headersSchema.optional().describe("Sent with the callback."),
    max_cost_usd: z.number().positive().max(1_000_000).optional().describe("The run stops when this much is spent."),
    limits: limitsSchema.optional().describe("What the run may use."),
    agent: z.enum(["sandstorm", "inline", "simulated"]).optional().describe("Who answers agent steps."),
    priority: prioritySchema,
    idempotency_key: idempotencyKey,
  })
  .refine((body) => (body.workflow === undefined) !== (body.workflow_name === undefined), {
    message: "exactly one of `workflow` and `workflow_name` must be there",
  })
  .refine((body) => body.input === undefined || body.input_data === undefined, {
    message: "`input` and `input_data` are two names of the same: send one",
  })
  .refine((body) => body.max_cost_usd === undefined || body.limits?.max_cost_usd === undefined, {
    message: "`max_cost_usd` and `limits.max_cost_usd` are two names of the same: send one",
  })
  .meta({ id: "Submission" });

export type SubmissionBody = z.output<typeof submissionSchema>;
