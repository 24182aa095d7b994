type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Makes JSON of this process exact, as it is in Python: for a peer on an SDK that reads and writes it inside. */
export function makePeerExact(): void {
  const engine = JSON as unknown as {
    parse(text: string, reviver: Reviver): unknown;
    rawJSON(text: string): object;
  };
  const parse = engine.parse;
  Object.defineProperty(BigInt.prototype, "toJSON", {
    value(this: bigint) {
      return engine.rawJSON(String(this));
    },
  });
  JSON.parse = (text: string) =>
    parse(text, (_key, value, { source = "" }) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
    );
}
