import { useCallback } from "react";
import { useSearchParams } from "wouter";

/**
 * A value of a view that stands in its address, so that the view can be shared: text, empty where it is absent. A change takes
 * the place of the address before, so that "back" leaves the view.
 */
export function useInAddress(name: string, usual = ""): readonly [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (value === usual) after.delete(name);
          else after.set(name, value);
          return after;
        },
        { replace: true },
      ),
    [name, usual, setParams],
  );
  return [params.get(name) ?? usual, set];
}
