import { Ajv } from "ajv";
import { workflowSchema } from "./workflow-schema.ts";

const { $schema: _, ...schema } = workflowSchema;

/** Checks the structure of a definition. Takes time to load: import it when there is a definition to check. */
export const validateWorkflow = new Ajv({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
}).compile(schema);
