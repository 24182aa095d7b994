import type { Result, Router } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";

/** Paths hold ids, of which there is no end. */
const MAX_KEPT = 500;

/**
 * Our paths need the router that understands all of them, which is not the fast one: what it has found for a path is found again
 * without it.
 */
export class RememberingRouter<T> implements Router<T> {
  readonly name = "RememberingRouter";
  readonly #router = new TrieRouter<T>();
  readonly #found = new Map<string, Result<T>>();

  add(method: string, path: string, handler: T): void {
    this.#found.clear();
    this.#router.add(method, path, handler);
  }

  match(method: string, path: string): Result<T> {
    const key = `${method} ${path}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const found = this.#router.match(method, path);
    if (this.#found.size >= MAX_KEPT) this.#found.clear();
    this.#found.set(key, found);
    return found;
  }
}
