import { useEffect, useState } from "react";

/** Nothing for 200 ms, then words that say what is waited for. */
export function Loading({ what }: { readonly what: string }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" data-loading="" className="p-4 text-soft">
      {isLate ? `Reading ${what} …` : ""}
    </p>
  );
}

/** Where there is nothing: what would stand here, and what to do so that something does. */
export function Empty({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <div className="mx-auto max-w-xl px-4 py-12 text-center">
      <p className="text-base font-semibold">{title}</p>
      {children && <div className="mt-2 text-soft">{children}</div>}
    </div>
  );
}
