// Loaded before the server where a defect is wanted: changes one text of one file as it is read.
import { registerHooks } from "node:module";
import { DEFECTS } from "./defects.ts";

const defect = DEFECTS[process.env["PAWL_DEFECT"] ?? ""];
if (defect === undefined) throw new Error("PAWL_DEFECT names no defect.");
const { file, find, put } = defect;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/src/${file}`)) return loaded;
    const source = String(loaded.source);
    if (source.split(find).length !== 2) throw new Error(`${file} does not have this once: ${find}`);
    return { ...loaded, source: source.replace(find, () => put) };
  },
});
