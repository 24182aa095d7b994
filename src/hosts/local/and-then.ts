/**
 * Goes on with a value, at once if it is there. The way of a step through the host is made of these, so that one whose
 * values are in memory costs no turn of the event loop.
 */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
