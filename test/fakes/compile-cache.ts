import { fileURLToPath } from "node:url";

/**
 * For the environment of our own programs that tests start from their sources: to read and translate hundreds of files anew
 * each time costs more than what most tests ask of them. Node looks at the contents, so that no old file is run.
 */
export const COMPILE_CACHE: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/pawl-tests", import.meta.url)),
};
