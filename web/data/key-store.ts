import { ApiError } from "pawl/client";

const PLACE = "pawl.key";

/** The key of this tab: asked for once, sent in a header, never in an address. */
export class KeyStore {
  readonly #storage: Storage;
  readonly #listeners = new Set<() => void>();
  /** Why a key is asked for; undefined while none is. */
  asked: string | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  get key(): string | undefined {
    return this.#storage.getItem(PLACE) ?? undefined;
  }

  ask(error: ApiError): void {
    this.asked = error.message;
    this.#tell();
  }

  set(key: string): void {
    this.#storage.setItem(PLACE, key);
    this.asked = undefined;
    this.#tell();
  }

  forget(): void {
    this.#storage.removeItem(PLACE);
    this.#tell();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The server wants a key, or another one. */
export function isKeyError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "UNAUTHORIZED";
}
