/**
 * The same object with some of its methods and fields replaced; the others are those of the object itself, whatever class it
 * has. A copy would lose what a class keeps to itself. `Base`: where `Target` is a parameter, what is known of it.
 */
export function withMethods<Target extends Base, Base extends object = Target>(
  target: Target,
  replaced: Partial<NoInfer<Base>>,
): Target {
  return new Proxy(target, {
    get(original, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(original, name, original);
      return typeof value === "function" ? value.bind(original) : value;
    },
  });
}
