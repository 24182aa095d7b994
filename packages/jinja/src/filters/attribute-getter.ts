import { plain } from "../values/compare.ts";
import { isText, type Rendering, Undefined, type Value } from "../values/value.ts";

type Getter = (item: Value) => Value;

/** Follows `a.b.0` from an item. Null stands for the item itself. */
export function attributeGetter(attribute: Value, rendering: Rendering, fallback: Value = null): Getter {
  const parts = toParts(attribute);
  return (item) => {
    let value = item;
    for (const part of parts) {
      value = rendering.lookUp(value, part, "item");
      if (fallback !== null && value instanceof Undefined) value = fallback;
    }
    return value;
  };
}

/** Several of them, with commas between; their values make a list. */
export function attributesGetter(attribute: Value, rendering: Rendering, isCaseSensitive: boolean): Getter {
  const attributes = isText(attribute) ? plain(attribute).split(",") : [attribute];
  const getters = attributes.map((each) => caseless(attributeGetter(each, rendering), isCaseSensitive));
  return (item) => getters.map((get) => get(item));
}

/** Texts in lower case, where case does not matter. */
export function caseless(get: Getter, isCaseSensitive: boolean): Getter {
  if (isCaseSensitive) return get;
  return (item) => {
    const value = get(item);
    return isText(value) ? plain(value).toLowerCase() : value;
  };
}

function toParts(attribute: Value): readonly Value[] {
  if (attribute === null) return [];
  if (!isText(attribute)) return [attribute];
  return plain(attribute)
    .split(".")
    .map((part) => (/^\d+$/.test(part) ? BigInt(part) : part));
}
