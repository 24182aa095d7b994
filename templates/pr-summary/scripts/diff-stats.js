/** Counts what a unified diff changes. */
export function count({ diff }) {
  const lines = diff.split("\n");
  const added = lines.filter((line) => line.startsWith("+") && !line.startsWith("+++")).length;
  const removed = lines.filter((line) => line.startsWith("-") && !line.startsWith("---")).length;
  const files = [
    ...new Set(lines.filter((line) => line.startsWith("+++ ")).map((line) => line.slice(4).replace(/^b\//, ""))),
  ];
  return { added, removed, changed: added + removed, files };
}
