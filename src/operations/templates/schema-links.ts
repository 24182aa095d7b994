import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Beside this file's layer in the sources as in the package. */
const SCHEMAS = fileURLToPath(new URL("../../../schemas/", import.meta.url));

const LINK = /(\$schema"?[=:] ?"?)(?:\.\.\/)+(schemas\/[\w-]+\.schema\.json)/;

/**
 * A file of the package links to the schema in the package, for its editor. Laid out elsewhere it links to a copy in the
 * folder `schemas` that is laid out with it, so that the link holds wherever Pawl is installed.
 */
export function linkToCopy(file: string, text: string): { readonly text: string; readonly schema?: string } {
  const [, , schema] = LINK.exec(text) ?? [];
  if (schema === undefined) return { text };
  const up = "../".repeat(file.split("/").length - 1);
  return { text: text.replace(LINK, `$1${up === "" ? "./" : up}$2`), schema };
}

/** `schema`: as `linkToCopy` names it. */
export function readSchema(schema: string): Promise<Buffer> {
  return readFile(SCHEMAS + schema.replace("schemas/", ""));
}
