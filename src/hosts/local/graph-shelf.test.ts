import { expect, test } from "vitest";
import { task, toGraph } from "../../../test/faults/graphs.ts";
import { GraphShelf } from "./graph-shelf.ts";

const definitionOf = (name: string) => ({ text: name, graph: toGraph([task("a", {})], { name }) });

test("of ever new definitions the newest are kept, and one that is used again is new", () => {
  const shelf = new GraphShelf();
  const used = definitionOf("used");
  const { graph } = shelf.put(used);
  const { pinned } = shelf.put(definitionOf("never again"));
  for (let n = 0; n < 600; n += 1) {
    shelf.put(definitionOf(`number ${n}`));
    expect(shelf.put(used).graph).toBe(graph);
  }
  expect(shelf.byHash.size).toBe(500);
  expect(shelf.byHash.has(pinned.graphHash)).toBe(false);
});
