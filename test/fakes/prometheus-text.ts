export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? ([Nn]a[Nn]|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** Reads the text format of Prometheus as its server does: each sample belongs to a type that was told before, and stands once. */
export function parsePrometheus(text: string): readonly Sample[] {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  if (!text.endsWith("\n")) throw new Error("The last line has no end.");
  for (const line of text.split("\n")) {
    const [, told, type = ""] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? [];
    if (told !== undefined) types.set(told, type);
    if (line === "" || line.startsWith("#")) continue;
    const [, name, inside = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`No line of metrics: ${line}`);
    if (!types.has(name) && !types.has(name.replace(/_(bucket|sum|count)$/, ""))) throw new Error(`No type: ${line}`);
    const key = line.slice(0, line.lastIndexOf(" "));
    if (seen.has(key)) throw new Error(`It stands twice: ${key}`);
    seen.add(key);
    const pairs = [...inside.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"/g)];
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, label = "", given = ""]) => [label, given])),
      value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
    });
  }
  return samples;
}
