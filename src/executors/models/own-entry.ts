/** An entry of a map that users write: a name such as `constructor` is like any other. */
export function ownEntry<Value>(map: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
