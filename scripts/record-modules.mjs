// Preloaded by the build: writes the path of each module that the program loads to the file that PAWL_MODULES names.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

const list = process.env.PAWL_MODULES;
const seen = new Set();
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) seen.add(fileURLToPath(url));
    return next(url, context);
  },
});
process.on("exit", () => appendFileSync(list, [...seen].join("\n")));
