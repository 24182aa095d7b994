import { expect, test } from "vitest";
import { task, toGraph } from "../../../test/faults/graphs.ts";
import { GraphCache } from "./graph-cache.ts";

const definitionOf = (name: string) => ({ text: name, graph: toGraph([task("a", {})], { name }) });

test("of ever new definitions the newest are kept, and one that is used again is new", () => {
  const graphCache = new GraphCache();
  const used = definitionOf("used");
  const { graph } = graphCache.put(used);
  const { pinned } = graphCache.put(definitionOf("never again"));
  for (let n = 0; n < 600; n += 1) {
    graphCache.put(definitionOf(`number ${n}`));
    expect(graphCache.put(used).graph).toBe(graph);
  }
  expect(graphCache.byHash.size).toBe(500);
  expect(graphCache.byHash.has(pinned.graphHash)).toBe(false);
});
