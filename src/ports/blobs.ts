/** Large values by content. Writing the same content twice is one blob. */
export interface Blobs {
  /** Durable when it resolves. Returns the SHA-256 in lower-case hex. */
  put(content: string | Uint8Array): Promise<string>;
  /** Throws `BLOB_MISSING`, or `BLOB_DAMAGED` where the content does not match its hash. */
  get(sha256: string): Promise<Uint8Array>;
  list(): AsyncIterable<{ readonly sha256: string; readonly bytes: number; readonly modifiedAt: number }>;
  /** False: it was written at `before` or later, in milliseconds since the epoch, and stays. */
  remove(sha256: string, options?: { readonly before?: number }): Promise<boolean>;
}
