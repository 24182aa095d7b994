import { hash } from "node:crypto";

/** Hashes bound inputs. The last one is remembered: loops and fan-outs often ask the same again, and hashing is expensive right after a commit. */
export class InputHash {
  #last = { text: "", hash: "" };

  of(text: string): string {
    if (text !== this.#last.text) this.#last = { text, hash: hash("sha256", text, "base64url").slice(0, 22) };
    return this.#last.hash;
  }
}
