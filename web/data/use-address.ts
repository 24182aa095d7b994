import { useCallback } from "react";
import { useParams, useSearchParams } from "wouter";
import { useBrowserLocation, useSearch } from "wouter/use-browser-location";

/** The router decodes what it is given, and the views decode once more: it is given the address as it is written. */
export function useWrittenLocation(): ReturnType<typeof useBrowserLocation> {
  const [path, go] = useBrowserLocation();
  return [path.replaceAll("%", "%25"), go];
}

export function useWrittenSearch(): string {
  return useSearch().replaceAll("%", "%25");
}

/** What the address names below its view; empty: nothing. */
export function useNamed(): string {
  const { "*": written = "" } = useParams<{ "*"?: string }>();
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

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
