/** Keeps what a run was given as secret: out of sight while it goes on, and unreadable on disk until it is needed again. */
export interface RunSecrets {
  /** From now on these are masked in everything that is stored or shown, until the returned function is called. */
  learn(values: readonly string[]): () => void;
  /** Encrypts a text, so that it may be stored. */
  seal(text: string): string;
  /** The same for the same purpose and data directory, and not to be guessed: 32 bytes. */
  derive(purpose: string): Uint8Array;
  /** Throws `SECRET_UNREADABLE` for what was sealed with another key. */
  open(sealed: string): string;
}
