import { ApiError } from "pawl/client";

const PLACE = "pawl.key";
/** The key came with the address of a terminal, and opens terminals only. */
const ONLY_TERMINALS = "pawl.only-terminals";

/** The key of this tab, sent in a header. A person gives it, or the address of a terminal, which loses it at once: histories keep addresses. */
export class KeyStore {
  readonly #storage: Storage;
  readonly #listeners = new Set<() => void>();
  /** Why a key is asked for; undefined while none is. */
  asked: string | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
    const given = new URLSearchParams(location.search).get("token");
    if (given === null) return;
    // A token may be any text, and a header may not.
    storage.setItem(PLACE, encodeURIComponent(given));
    storage.setItem(ONLY_TERMINALS, "yes");
    history.replaceState(null, "", location.pathname);
  }

  get isOnlyForTerminals(): boolean {
    return this.#storage.getItem(ONLY_TERMINALS) !== null;
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
