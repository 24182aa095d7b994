import { useState } from "react";
import { useKeys } from "./keys.ts";

interface RowKeys {
  readonly count: number;
  readonly onOpen: (index: number) => void;
  readonly onClose?: () => void;
}

/** The keys of a list: `j` and `k` move, Enter opens, Esc closes. Returns the row that they are on; −1 before the first key. */
export function useRowKeys({ count, onOpen, onClose }: RowKeys): number {
  const [at, setAt] = useState(-1);
  useKeys({
    j: () => setAt(Math.min(count - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    Enter: () => at >= 0 && at < count && onOpen(at),
    Escape: () => onClose?.(),
  });
  return Math.min(at, count - 1);
}
