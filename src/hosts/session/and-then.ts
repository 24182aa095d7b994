/** Goes on with a value, at once if it is there: what has it in memory then waits for no turn of the event loop. */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
