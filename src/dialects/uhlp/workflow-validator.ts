import { Ajv, type SchemaValidateFunction, type ValidateFunction } from "ajv";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { checkedSchema, plainStep, stepKinds } from "./schema/workflow-schema.ts";

/**
 * Makes what checks the structure of definitions. It says the same as the published schema, but compiles what a kind of step has
 * only where there is one: all of it would take a third of the time that a small run takes.
 */
function makeValidator(): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  ajv.addKeyword({ keyword: KIND, type: "object", errors: "full", validate: kindChecker(ajv) });
  ajv.addKeyword({ keyword: "sameAs", schemaType: "string", errors: "full", validate: spellingChecker() });
  const { $schema: _, definitions, ...schema } = checkedSchema;
  const step = { ...plainStep, [KIND]: true };
  const named = { ...(isJsonObject(definitions) ? definitions : {}), step };
  return ajv.addSchema({ ...schema, definitions: named }, ID).getSchema(ID) as ValidateFunction;
}

const ID = "workflow";
const KIND = "kindOfStep";

function kindChecker(ajv: Ajv): SchemaValidateFunction {
  const check: SchemaValidateFunction = (_schema: Json, step: Json, _parent, context) => {
    const kind = isJsonObject(step) ? kindOf(step) : undefined;
    const validate = kind === undefined ? undefined : ajv.getSchema(`${ID}#/definitions/${kind}`);
    if (validate === undefined || validate(step)) return true;
    const { instancePath = "" } = context ?? {};
    const errors = validate.errors ?? [];
    check.errors = errors.map((error) => ({ ...error, instancePath: `${instancePath}${error.instancePath}` }));
    return false;
  };
  return check;
}

/** Two spellings of one key say different things: which of them is meant? */
function spellingChecker(): SchemaValidateFunction {
  const check: SchemaValidateFunction = (key: string, value: Json, _parent, context) => {
    const { instancePath = "", parentData } = context ?? {};
    const others: unknown = parentData;
    if (!isJsonObject(others) || !Object.hasOwn(others, key)) return true;
    if (JSON.stringify(others[key]) === JSON.stringify(value)) return true;
    check.errors = [{ keyword: "sameAs", instancePath, params: { key } }];
    return false;
  };
  return check;
}

function kindOf({ type, subtype }: JsonObject): string | undefined {
  // Only texts: an object may say anything of itself when it is asked for one.
  if (typeof type !== "string") return undefined;
  const kind = type !== "control" ? type : typeof subtype === "string" ? `control.${subtype}` : "";
  return Object.hasOwn(stepKinds, kind) ? kind : undefined;
}

/** Takes time to load: import it when there is a definition to check. */
export const validateWorkflow = makeValidator();
